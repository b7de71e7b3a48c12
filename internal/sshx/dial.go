// Package sshx is the SSH transport: it logs in with a key or a password, pins
// the host key for one boot, keeps the connection, and runs commands whose time
// and output are bounded. A peer that hangs is cut off when the context ends,
// whatever it was doing. Nothing is retried and nothing is logged here.
package sshx

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/crypto/ssh"

	"curfew/fleet"
)

// Dialer makes connections. It may be used from several goroutines.
type Dialer struct {
	Key  ssh.Signer // may be nil
	Pins Pins       // required
	// Timeout bounds dial, handshake and login together; default 10 s.
	Timeout time.Duration
	// KeepAlive is how often a sign of life is asked for, and how long one is
	// waited for; default 30 s.
	KeepAlive time.Duration
	// DialContext makes the TCP connection; nil means the machine's own network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Target is whom to log in to. Ref and Boot are what the host key is pinned by.
type Target struct {
	Ref    fleet.Ref
	Boot   fleet.Boot
	Access fleet.Access
}

// Address gives host:port, with port 22 where none is told.
func (t Target) Address() string {
	return net.JoinHostPort(t.Access.Host, strconv.Itoa(cmp.Or(t.Access.Port, 22)))
}

// ParseKey reads a private key in PEM form.
func ParseKey(pem []byte) (ssh.Signer, error) {
	key, err := ssh.ParsePrivateKey(pem)
	if _, locked := errors.AsType[*ssh.PassphraseMissingError](err); locked {
		return nil, errors.New("the SSH key is locked with a passphrase; give a key without one, used for nothing else")
	}
	if err != nil {
		// The cause may quote the key.
		return nil, errors.New("the SSH key cannot be read; give a private key in OpenSSH or PEM form")
	}
	return key, nil
}

// Dial connects and logs in. The connection is open until [Conn.Close], or until
// it is lost; ctx bounds only its making.
func (d *Dialer) Dial(ctx context.Context, t Target) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.Timeout, 10*time.Second))
	defer cancel()
	op := "ssh " + t.Access.User + "@" + t.Address()

	l := login{dialer: d, target: t}
	if t.Access.Key != "" {
		var err error
		if l.own, err = ParseKey([]byte(t.Access.Key)); err != nil {
			return nil, &Error{op, ErrAuth, err}
		}
	}
	dial := d.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	raw, err := dial(ctx, "tcp", t.Address())
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &Error{op, ErrUnreachable, ErrTimedOut}
	case err != nil:
		return nil, &Error{op, ErrUnreachable, err}
	}

	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn, chans, reqs, err := ssh.NewClientConn(raw, t.Address(), l.config())
	if !stop() { // the context ended, and with it the connection
		if err == nil {
			_ = conn.Close()
			go ssh.DiscardRequests(reqs)
			drain(chans)
		}
		return nil, &Error{op, ErrTimedOut, ctx.Err()}
	}
	if err != nil {
		return nil, l.explain(op, err)
	}
	c := &Conn{op: op, raw: raw, client: ssh.NewClient(conn, chans, reqs), secret: t.Access.Password}
	c.start(cmp.Or(d.KeepAlive, 30*time.Second))
	return c, nil
}

// drain ends what a connection that nobody wants has opened.
func drain(chans <-chan ssh.NewChannel) {
	for ch := range chans {
		_ = ch.Reject(ssh.Prohibited, "")
	}
}

// login is one attempt; it remembers how far it came, since the library's
// errors do not tell.
type login struct {
	dialer *Dialer
	target Target
	own    ssh.Signer // the target's own key; may be nil

	trusted bool  // the host key was accepted
	refusal error // the host key was not
}

func (l *login) config() *ssh.ClientConfig {
	return &ssh.ClientConfig{
		User:            l.target.Access.User,
		Auth:            l.methods(),
		HostKeyCallback: l.hostKey,
		ClientVersion:   "SSH-2.0-curfew",
	}
}

// methods offers the target's own key first, then the dialer's, then the password
// in both of its forms. Each is tried once: a server that counts failures is not
// provoked.
func (l *login) methods() []ssh.AuthMethod {
	var keys []ssh.Signer
	for _, key := range []ssh.Signer{l.own, l.dialer.Key} {
		if key != nil && !slices.ContainsFunc(keys, func(k ssh.Signer) bool { return sameKey(k, key) }) {
			keys = append(keys, key)
		}
	}
	var methods []ssh.AuthMethod
	if len(keys) > 0 {
		methods = append(methods, ssh.PublicKeys(keys...))
	}
	password := l.target.Access.Password
	if password == "" {
		return methods
	}
	asked := false
	challenge := func(_, _ string, questions []string, echos []bool) ([]string, error) {
		if asked && len(questions) > 0 {
			return nil, errors.New("asked again after the password")
		}
		answers := make([]string, len(questions))
		for n := range questions {
			if !echos[n] {
				answers[n], asked = password, true
			}
		}
		return answers, nil
	}
	return append(methods, ssh.Password(password), ssh.KeyboardInteractive(challenge))
}

func sameKey(a, b ssh.Signer) bool {
	return bytes.Equal(a.PublicKey().Marshal(), b.PublicKey().Marshal())
}

// hostKey pins the key, or compares it. It runs before anything secret is sent.
func (l *login) hostKey(_ string, _ net.Addr, key ssh.PublicKey) error {
	is := ssh.FingerprintSHA256(key)
	was, err := l.dialer.Pins.Pin(l.target.Ref, l.target.Boot, is)
	switch {
	case err != nil:
		l.refusal = fmt.Errorf("pin of the host key: %w", err)
	case was != is:
		l.refusal = &PinChange{Was: was, Is: is}
	}
	l.trusted = l.refusal == nil
	return l.refusal
}

// explain tells at which step the attempt failed.
func (l *login) explain(op string, err error) error {
	_, network := errors.AsType[net.Error](err)
	broken := network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	_, changed := errors.AsType[*PinChange](l.refusal)
	switch {
	case changed:
		return &Error{op, ErrPinChanged, l.refusal}
	case l.refusal != nil:
		return &Error{op, ErrNotSSH, l.refusal}
	case l.trusted && broken:
		return &Error{op, ErrLost, err}
	case l.trusted:
		return &Error{op, ErrAuth, err}
	}
	return &Error{op, ErrNotSSH, err}
}
