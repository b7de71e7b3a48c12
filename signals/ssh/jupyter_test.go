package ssh_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"curfew/internal/sshx/sshdtest"
	"curfew/signals/ssh"
)

func TestThePlatformsTokenIsTriedWhereTheServersOwnIsRefused(t *testing.T) {
	const given = "jt-hunter2"
	asked := make(chan string, 10)
	jupyter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		if r.Header.Get("Authorization") != "token "+given {
			http.Error(w, "Forbidden", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `[{"id": "4f2a1c00-1", "name": "python3", "execution_state": "busy", "last_activity": "2026-11-30T10:00:00Z"}]`)
	}))
	defer jupyter.Close()
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	dir := filepath.Join(s.Home, ".local/share/jupyter/runtime")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// The process that it names is this one: it is there, and answers.
	write(t, filepath.Join(dir, fmt.Sprintf("jpserver-%d.json", os.Getpid())), fmt.Sprintf(
		"{\n  \"base_url\": \"/\",\n  \"hostname\": \"localhost\",\n  \"port\": %d,\n  \"token\": \"old\"\n}", jupyter.Listener.Addr().(*net.TCPAddr).Port))
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	kernels := func() int {
		t.Helper()
		n := 0
		for _, s := range b.look(machine("i", 1)).Facts.Sessions {
			if s.Busy && strings.Contains(s.Name, "4f2a1c00") {
				n++
			}
		}
		return n
	}
	b.set("i", s.Access())
	if kernels() != 0 || len(asked) != 1 || <-asked != "token old" {
		t.Error("a platform that tells no token: the server's own was not tried, or more than that")
	}
	access := s.Access()
	access.JupyterToken = given
	b = newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", access)
	if kernels() != 1 || len(asked) != 2 || <-asked != "token old" || <-asked != "token "+given {
		t.Error("the platform's token was not tried after the server's own")
	}
}
