package sshx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// Conn is one connection that stays open. Its methods may be called from
// several goroutines.
type Conn struct {
	op     string
	raw    net.Conn
	client *ssh.Client
	secret string        // taken out of error texts
	lost   chan struct{} // closed when the connection has ended
	cut    atomic.Bool   // we ended it; lost follows
	wg     sync.WaitGroup
}

func (c *Conn) start(keepAlive time.Duration) {
	c.lost = make(chan struct{})
	c.wg.Go(func() {
		_ = c.client.Wait()
		close(c.lost)
	})
	c.wg.Go(func() { c.keepAlive(keepAlive) })
}

// drop cuts the connection below SSH, since a polite close may wait for a peer
// that does not answer.
func (c *Conn) drop() {
	c.cut.Store(true)
	_ = c.raw.Close()
}

// Close ends the connection. It may be called again.
func (c *Conn) Close() {
	c.drop()
	c.wg.Wait()
}

// Alive reports whether the connection is still up, as far as is known.
func (c *Conn) Alive() bool {
	select {
	case <-c.lost:
		return false
	default:
		return !c.cut.Load()
	}
}

// keepAlive asks for a sign of life now and then: it keeps translations open on
// the way, and finds out about a peer that is gone.
func (c *Conn) keepAlive(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-c.lost:
			return
		case <-tick.C:
		}
		patience := time.AfterFunc(every, c.drop)
		// Any answer will do, a refusal as well.
		_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		patience.Stop()
		if err != nil {
			c.drop()
			return
		}
	}
}

// Run runs a command and gives what it wrote to standard output, at most limit
// bytes. When ctx ends first, the connection is cut and the error is
// ErrTimedOut. Output read so far is given along with any error.
func (c *Conn) Run(ctx context.Context, command string, limit int) ([]byte, error) {
	return c.Feed(ctx, command, nil, limit)
}

// Feed is [Conn.Run] with something to read on the command's standard input.
func (c *Conn) Feed(ctx context.Context, command string, stdin []byte, limit int) ([]byte, error) {
	stop := context.AfterFunc(ctx, c.drop)
	defer stop()
	session, err := c.client.NewSession()
	if err != nil {
		return nil, c.explain(ctx, err, nil, nil)
	}
	out, errs := &capped{limit: limit}, &capped{limit: 500}
	out.full = func() { _ = session.Close() } // do not pay for what is thrown away
	session.Stdin, session.Stdout, session.Stderr = bytes.NewReader(stdin), out, errs
	err = session.Run(command)
	_ = session.Close()
	return out.buf.Bytes(), c.explain(ctx, err, out, errs)
}

// Tail is [Conn.Feed] for a command that may write as much as it likes: it gives
// the last bytes of what was written to both outputs.
func (c *Conn) Tail(ctx context.Context, command string, stdin []byte, limit int) ([]byte, error) {
	stop := context.AfterFunc(ctx, c.drop)
	defer stop()
	session, err := c.client.NewSession()
	if err != nil {
		return nil, c.explain(ctx, err, nil, &capped{})
	}
	end := &tail{limit: limit}
	session.Stdin, session.Stdout, session.Stderr = bytes.NewReader(stdin), end, end
	err = session.Run(command)
	_ = session.Close()
	return end.bytes(), c.explain(ctx, err, nil, &capped{})
}

// Tether is [Conn.Tail] for a command that is to live no longer than the connection:
// its standard input ends only when it has ended, or with the connection.
func (c *Conn) Tether(ctx context.Context, command string, stdin []byte, limit int) ([]byte, error) {
	stop := context.AfterFunc(ctx, c.drop)
	defer stop()
	session, err := c.client.NewSession()
	if err != nil {
		return nil, c.explain(ctx, err, nil, &capped{})
	}
	end := &tail{limit: limit}
	session.Stdout, session.Stderr = end, end
	in, err := session.StdinPipe()
	if err == nil {
		err = session.Start(command)
	}
	if err == nil {
		_, err = in.Write(stdin)
		// One that ended before it had read everything tells why itself.
		if ended := session.Wait(); ended != nil || errors.Is(err, io.EOF) {
			err = ended
		}
	}
	_ = session.Close()
	return end.bytes(), c.explain(ctx, err, nil, &capped{})
}

// explain tells what ended a command; nil where it ended well.
func (c *Conn) explain(ctx context.Context, err error, out, errs *capped) error {
	if out != nil && out.over {
		return &Error{c.op, ErrTooMuch, nil}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return &Error{c.op, ErrTimedOut, ctx.Err()}
	}
	if exit, ok := errors.AsType[*ssh.ExitError](err); ok {
		return &Error{c.op, ErrCommand, &Exit{exit.ExitStatus(), firstLine(errs.buf.String(), c.secret)}}
	}
	if _, refused := errors.AsType[*ssh.OpenChannelError](err); refused {
		return &Error{c.op, ErrCommand, err}
	}
	if _, silent := errors.AsType[*ssh.ExitMissingError](err); silent && c.Answers(ctx) {
		return &Error{c.op, ErrCommand, &Exit{-1, firstLine(errs.buf.String(), c.secret)}}
	}
	c.drop()
	return &Error{c.op, ErrLost, err}
}

// Answers asks the peer whether it is still there. A command that ended without
// an exit status was killed, or took the connection with it. A connection over
// which nothing comes back before ctx ends is cut.
func (c *Conn) Answers(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, c.drop)
	defer stop()
	_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
	return err == nil
}

// capped keeps the first bytes and calls full once when there are more; the rest
// is taken and thrown away, so that the peer is never blocked by us.
type capped struct {
	buf   bytes.Buffer
	limit int
	full  func()
	over  bool
}

// Write never fails.
func (w *capped) Write(p []byte) (int, error) {
	keep := min(len(p), w.limit-w.buf.Len())
	w.buf.Write(p[:keep])
	if keep < len(p) && !w.over {
		w.over = true
		if w.full != nil {
			w.full()
		}
	}
	return len(p), nil
}

// tail keeps the last bytes of what is written, by however many.
type tail struct {
	limit int
	mu    sync.Mutex
	buf   []byte
}

// Write never fails.
func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p[max(0, len(p)-w.limit):]...)
	if over := len(w.buf) - w.limit; over > 0 {
		w.buf = append(w.buf[:0], w.buf[over:]...)
	}
	return len(p), nil
}

func (w *tail) bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.buf)
}
