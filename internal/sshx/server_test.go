package sshx_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"curfew/fleet"
)

// fakeServer is an SSH server in this process, for what a real one cannot be
// made to do without privileges: passwords, and misbehaviour.
type fakeServer struct {
	t      *testing.T
	listen net.Listener
	key    ssh.Signer
	wg     sync.WaitGroup

	user, password string
	// method is password, keyboard-interactive or stubborn (which asks for ever).
	method string
	// run answers a command.
	run func(ch ssh.Channel, command string)

	mu     sync.Mutex
	conns  []net.Conn
	logins []string // passwords that were sent
}

func newFakeServer(t *testing.T, method string) *fakeServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{
		t: t, listen: l, key: newSigner(t), method: method, user: "root", password: "correct horse",
		run: func(ch ssh.Channel, _ string) { exit(ch, 0) },
	}
	s.wg.Go(s.accept)
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

func newSigner(t *testing.T) ssh.Signer {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (s *fakeServer) access(password string) fleet.Access {
	addr, ok := s.listen.Addr().(*net.TCPAddr)
	if !ok {
		s.t.Fatal("no TCP address")
	}
	return fleet.Access{Host: "127.0.0.1", Port: addr.Port, User: s.user, Password: password}
}

func (s *fakeServer) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.logins...)
}

func (s *fakeServer) check(user, password string) (*ssh.Permissions, error) {
	s.mu.Lock()
	s.logins = append(s.logins, password)
	s.mu.Unlock()
	if user != s.user || password != s.password {
		return nil, errors.New("no")
	}
	return nil, nil
}

func (s *fakeServer) config() *ssh.ServerConfig {
	c := &ssh.ServerConfig{MaxAuthTries: 20}
	c.AddHostKey(s.key)
	switch s.method {
	case "password":
		c.PasswordCallback = func(m ssh.ConnMetadata, pw []byte) (*ssh.Permissions, error) {
			return s.check(m.User(), string(pw))
		}
	case "keyboard-interactive", "stubborn":
		c.KeyboardInteractiveCallback = func(m ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			for {
				answers, err := ask("", "", []string{"Name: ", "Password: "}, []bool{true, false})
				if err != nil {
					return nil, err
				}
				if answers[0] != "" {
					s.t.Errorf("a question whose answer is shown was answered with %q", answers[0])
				}
				p, err := s.check(m.User(), answers[1])
				if err == nil || s.method != "stubborn" {
					return p, err
				}
			}
		}
	}
	return c
}

func (s *fakeServer) accept() {
	for {
		c, err := s.listen.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(c) })
	}
}

func (s *fakeServer) serve(c net.Conn) {
	defer c.Close()
	_, chans, reqs, err := ssh.NewServerConn(c, s.config())
	if err != nil {
		return
	}
	s.wg.Go(func() { ssh.DiscardRequests(reqs) })
	for ch := range chans {
		channel, requests, err := ch.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			for r := range requests {
				if r.Type != "exec" {
					s.t.Errorf("unexpected request %s", r.Type)
				}
				var msg struct{ Command string }
				if err := ssh.Unmarshal(r.Payload, &msg); err != nil {
					s.t.Errorf("exec: %v", err)
				}
				_ = r.Reply(true, nil)
				s.wg.Go(func() { s.run(channel, msg.Command) })
			}
		})
	}
}

func exit(ch ssh.Channel, status uint32) {
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
	_ = ch.Close()
}

func newRaw(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return priv
}

func pemOf(b *pem.Block) []byte { return pem.EncodeToMemory(b) }
