// Package sshdtest runs a real OpenSSH server for a test: on a free port of the
// loopback interface, without privileges, with keys, home directory and PATH of
// its own. It ends with the test.
package sshdtest

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"curfew/fleet"
)

// Options are the options of a server; the zero value is a machine without
// cards.
type Options struct {
	// NvidiaSMI is the body of a shell script that stands in for nvidia-smi; empty:
	// there is none.
	NvidiaSMI string
	// Path is the PATH inside, after the directory with the stand-ins; empty:
	// that of a plain Debian login.
	Path string
	// Shell is the program that goes by the name of sh inside, such as /bin/bash;
	// empty: the machine's.
	Shell string
}

// Server is a running server.
type Server struct {
	Host   string
	Port   int
	User   string
	KeyPEM []byte // logs in as User
	Home   string // HOME inside
	Bin    string // first in PATH inside; holds the stand-ins

	t      testing.TB
	dir    string
	path   string
	public []byte // as a line of authorized_keys
	proc   *exec.Cmd
	end    context.CancelFunc
	log    chan struct{} // closed when everything the server said has been read
}

// Start runs a server until the test ends. Where sshd is not installed the test
// is skipped, but in CI it fails.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	sshd := find(t)
	me, err := user.Current()
	if err != nil {
		t.Fatalf("sshdtest: who am I: %v", err)
	}
	dir := t.TempDir()
	s := &Server{
		Host: "127.0.0.1", User: me.Username, t: t, dir: dir,
		Home: filepath.Join(dir, "home"), Bin: filepath.Join(dir, "bin"),
	}
	for _, d := range []string{s.Home, s.Bin} {
		s.must(os.Mkdir(d, 0o700))
	}
	path := o.Path
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	s.path = s.Bin + ":" + path
	if o.NvidiaSMI != "" {
		s.SetNvidiaSMI(o.NvidiaSMI)
	}
	if o.Shell != "" {
		s.must(os.Symlink(o.Shell, filepath.Join(s.Bin, "sh")))
	}
	private, public := newKey(t)
	s.KeyPEM = private
	s.public = public
	s.Lock(false)
	s.NewHostKey()
	s.run(sshd)
	t.Cleanup(s.Stop)
	return s
}

// Access is how to log in to the server.
func (s *Server) Access() fleet.Access {
	return fleet.Access{Host: s.Host, Port: s.Port, User: s.User}
}

// SetNvidiaSMI replaces what nvidia-smi does from now on.
func (s *Server) SetNvidiaSMI(body string) { s.StandIn("nvidia-smi", body) }

// StandIn puts a shell script in front of PATH inside.
func (s *Server) StandIn(name, body string) {
	s.t.Helper()
	// Written aside and renamed: a script that is being run must not change.
	s.write("stand-in", []byte("#!/bin/sh\n"+body+"\n"), 0o700)
	s.must(os.Rename(filepath.Join(s.dir, "stand-in"), filepath.Join(s.Bin, name)))
}

// NewHostKey gives the server another identity at its next start.
func (s *Server) NewHostKey() {
	s.t.Helper()
	private, _ := newKey(s.t)
	s.write("host_key", private, 0o600)
}

// Lock lets nobody log in from now on, or again those who could.
func (s *Server) Lock(on bool) {
	s.t.Helper()
	keys := s.public
	if on {
		keys = nil
	}
	s.write("authorized_keys", keys, 0o600)
}

// Restart stops the server and starts it on the same port. Connections that are
// open stay so, as they do with sshd.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.run(find(s.t))
}

// Stop ends the server: new connections are refused, those that are open stay.
func (s *Server) Stop() {
	if s.proc == nil {
		return
	}
	_ = s.proc.Process.Signal(syscall.SIGTERM)
	// Open sessions hold the log's pipe too; Wait closes our end of it.
	_ = s.proc.Wait()
	<-s.log
	s.end()
	s.proc = nil
}

// run starts sshd and waits until it listens. A port of its own choosing may be
// taken by somebody else in between: then another is tried.
func (s *Server) run(sshd string) {
	s.t.Helper()
	if os.Getuid() == 0 {
		s.must(os.MkdirAll("/run/sshd", 0o755))
	}
	fixed := s.Port != 0
	var said string
	for range 20 {
		if !fixed {
			s.Port = freePort(s.t)
		}
		var ok bool
		if ok, said = s.try(sshd); ok {
			return
		}
		if !strings.Contains(said, "Address already in use") {
			break
		}
	}
	s.t.Fatalf("sshdtest: sshd on port %d did not start:\n%s", s.Port, said)
}

func (s *Server) try(sshd string) (ok bool, said string) {
	s.t.Helper()
	config := s.write("sshd_config", []byte(strings.Join([]string{
		"ListenAddress 127.0.0.1",
		"Port " + strconv.Itoa(s.Port),
		"HostKey " + filepath.Join(s.dir, "host_key"),
		"AuthorizedKeysFile " + filepath.Join(s.dir, "authorized_keys"),
		"PidFile none",
		"StrictModes no",
		"UsePAM no",
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
		"PermitRootLogin prohibit-password",
		"PrintMotd no",
		"MaxStartups 1000", // hundreds log in to one server here, where each has its own outside
		"SetEnv PATH=" + s.path + " HOME=" + s.Home,
	}, "\n")+"\n"), 0o600)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	cmd := exec.CommandContext(ctx, sshd, "-D", "-e", "-f", config)
	out, err := cmd.StderrPipe()
	s.must(err)
	s.must(cmd.Start())

	lines := bufio.NewScanner(out)
	var b strings.Builder
	for lines.Scan() {
		b.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Server listening on") {
			s.proc, s.end, s.log = cmd, cancel, make(chan struct{})
			go func() {
				defer close(s.log)
				_, _ = io.Copy(io.Discard, out)
			}()
			return true, ""
		}
	}
	_ = cmd.Wait()
	cancel()
	return false, b.String()
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("sshdtest: %v", err)
	}
}

func (s *Server) write(name string, content []byte, mode os.FileMode) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	s.must(os.WriteFile(path, content, mode))
	s.must(os.Chmod(path, mode))
	return path
}

// find looks sshd up; it must be called by its full path.
func find(t testing.TB) string {
	t.Helper()
	for _, p := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	const absent = "sshdtest: there is no sshd here; install openssh-server"
	if _, ci := os.LookupEnv("CI"); ci {
		t.Fatal(absent)
	}
	t.Skip(absent)
	return ""
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("sshdtest: %v", err)
	}
	defer l.Close()
	addr, _ := l.Addr().(*net.TCPAddr)
	return addr.Port
}

// newKey gives a fresh key: the private half in PEM form, the public half as a
// line of authorized_keys.
func newKey(t testing.TB) (private, public []byte) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatalf("sshdtest: %v", err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatalf("sshdtest: %v", err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatalf("sshdtest: %v", err)
	}
	return pem.EncodeToMemory(block), ssh.MarshalAuthorizedKey(key)
}
