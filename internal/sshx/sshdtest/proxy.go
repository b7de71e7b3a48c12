package sshdtest

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"curfew/fleet"
)

// Proxy stands between a test and a server, so that the network can fail: it
// can break every connection, or fall silent as a dead peer does.
type Proxy struct {
	Host string
	Port int

	t      testing.TB
	listen net.Listener
	target string
	wg     sync.WaitGroup

	mu     sync.Mutex
	silent bool
	closed bool
	conns  map[net.Conn]bool
	taken  int
}

// NewProxy listens on a port of its own and passes everything on to the server.
// It ends with the test.
func NewProxy(t testing.TB, to fleet.Access) *Proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("sshdtest: %v", err)
	}
	addr, _ := l.Addr().(*net.TCPAddr)
	p := &Proxy{Host: "127.0.0.1", Port: addr.Port, t: t, listen: l, conns: map[net.Conn]bool{}}
	p.SetTarget(to)
	p.wg.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// Access is how to log in through the proxy as the user of to.
func (p *Proxy) Access(to fleet.Access) fleet.Access {
	to.Host, to.Port = p.Host, p.Port
	return to
}

// SetTarget sends the connections made from now on somewhere else.
func (p *Proxy) SetTarget(to fleet.Access) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = net.JoinHostPort(to.Host, strconv.Itoa(to.Port))
}

// Silence makes every connection, old and new, pass nothing on any more; they
// stay open.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// Break cuts every connection, and speaks again with those to come.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = false
	for c := range p.conns {
		_ = c.Close()
	}
}

// Taken is how many connections were made so far.
func (p *Proxy) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Open is how many connections are open.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) / 2
}

// Close ends the proxy.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listen.Close()
	p.Break()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		in, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		target := p.target
		p.taken++
		p.mu.Unlock()
		p.wg.Go(func() { p.serve(in, target) })
	}
}

func (p *Proxy) serve(in net.Conn, target string) {
	defer in.Close()
	out, err := new(net.Dialer).DialContext(p.t.Context(), "tcp", target)
	if err != nil {
		return
	}
	defer out.Close()
	if !p.keep(in, out) {
		return
	}
	defer p.forget(in, out)
	p.wg.Go(func() { p.pass(out, in) })
	p.pass(in, out)
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	return !p.closed
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}

// pass copies one direction until it ends, and then ends the other.
func (p *Proxy) pass(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 32*1024)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		silent := p.silent
		p.mu.Unlock()
		if n > 0 && !silent {
			if _, err := to.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
}
