package httpx

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-resty/resty/v2"

	"curfew/providers"
)

// pipeNet is a network inside the process, so that a server can live in a
// synctest bubble.
type pipeNet struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeNet() *pipeNet {
	return &pipeNet{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (p *pipeNet) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, io.EOF
	}
}

func (p *pipeNet) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipeNet) Close() error { p.once.Do(func() { close(p.done) }); return nil }

func (p *pipeNet) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// bubble serves h inside the bubble and gives a client for it, made with o.
func bubble(t *testing.T, o Options, sign providers.Signer, h http.HandlerFunc) *resty.Client {
	t.Helper()
	p := newPipeNet()
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := srv.Serve(p); err != http.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
	}()
	o.Dial = p.Dial
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 1 }
	}
	c := New(o)(sign).SetBaseURL("http://platform.test")
	t.Cleanup(func() {
		c.GetClient().CloseIdleConnections()
		_ = srv.Close()
		<-ended
	})
	return c
}
