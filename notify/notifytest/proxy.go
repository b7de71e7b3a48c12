package notifytest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// Proxy is a proxy on this machine that leads on to wherever it is asked for.
type Proxy struct {
	URL string

	mu    sync.Mutex
	asked []string
}

// Asked gives what was asked for so far, as HOST:PORT.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// CONNECT starts a proxy of HTTP that knows the method CONNECT alone; the test stops it.
func CONNECT(t testing.TB) *Proxy { return startProxy(t, "http", connect) }

// SOCKS5 starts a proxy of SOCKS 5 (RFC 1928) that asks for no login; the test stops it.
func SOCKS5(t testing.TB) *Proxy { return startProxy(t, "socks5", socks5) }

// hello reads what a client asks for, and says yes.
type hello func(in *bufio.Reader, out io.Writer) (host string, err error)

func startProxy(t testing.TB, scheme string, greet hello) *Proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: scheme + "://" + l.Addr().String()}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				if err := p.lead(t.Context(), conn, greet); err != nil {
					t.Errorf("proxy: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return p
}

// lead carries everything from one side to the other until one of them is done.
func (p *Proxy) lead(ctx context.Context, conn net.Conn, greet hello) error {
	in := bufio.NewReader(conn)
	host, err := greet(in, conn)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.asked = append(p.asked, host)
	p.mu.Unlock()
	far, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(far, in); done <- struct{}{} }()
	go func() { _, _ = io.Copy(conn, far); done <- struct{}{} }()
	<-done
	err = errors.Join(far.Close(), conn.Close())
	<-done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func connect(in *bufio.Reader, out io.Writer) (string, error) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return "", err
	}
	if req.Method != http.MethodConnect {
		return "", fmt.Errorf("%s %s is no CONNECT", req.Method, req.URL)
	}
	_, err = io.WriteString(out, "HTTP/1.1 200 OK\r\n\r\n")
	return req.Host, err
}

func socks5(in *bufio.Reader, out io.Writer) (string, error) {
	methods, err := read(in, 2)
	if err != nil {
		return "", err
	}
	if _, err := read(in, int(methods[1])); err != nil {
		return "", err
	}
	if _, err := out.Write([]byte{5, 0}); err != nil {
		return "", err
	}
	head, err := read(in, 4)
	if err != nil {
		return "", err
	}
	size := map[byte]int{1: net.IPv4len, 4: net.IPv6len}[head[3]]
	if head[3] == 3 {
		n, err := in.ReadByte()
		if err != nil {
			return "", err
		}
		size = int(n)
	}
	address, err := read(in, size+2)
	if err != nil {
		return "", err
	}
	host := net.IP(address[:size]).String()
	if head[3] == 3 {
		host = string(address[:size])
	}
	_, err = out.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(address[size:])))), err
}

func read(in *bufio.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}
