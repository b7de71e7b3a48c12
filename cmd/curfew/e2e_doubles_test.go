package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"curfew/internal/sshx/sshdtest"
)

// furnish makes the machine that the test runs on look like a box of its own:
// with one card at rest, and without the terminals and the nvidia-smi calls that
// other boxes and people have here.
func furnish(s *sshdtest.Server) {
	s.SetNvidiaSMI(`echo "0, NVIDIA GeForce RTX 4090 D, 0, 4, 12.05, [N/A]"`)
	s.StandIn("who", "exit 0")
	s.StandIn("stat", `case "$*" in *"tty %X"*) exit 0;; esac; PATH=${PATH#*:}; exec stat "$@"`)
	s.StandIn("grep", `case $1 in -la) exit 1;; esac; PATH=${PATH#*:}; exec grep "$@"`)
	s.StandIn("python", `read -r code; exit "${code:-9}"`)
}

// trust lets the key of one server into another.
func trust(t *testing.T, other, key *sshdtest.Server) {
	t.Helper()
	signer, err := ssh.ParsePrivateKey(key.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(other.Home), "authorized_keys")
	if err := os.WriteFile(file, ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// train starts a training run in the box and gives what ends it with an exit
// code. With a run file it is wrapped as the documentation shows.
func (l *e2e) train(wrapped bool) (end func(code int)) {
	l.t.Helper()
	run := exec.CommandContext(l.t.Context(), filepath.Join(l.box.Bin, "python"), "train.py", "--name="+l.work)
	if wrapped {
		run = exec.CommandContext(l.t.Context(), "/bin/sh", "-c",
			`mkdir -p ~/.curfew/runs; f=~/.curfew/runs/$(date +%s).$$; echo "start=$(date +%s) pid=$$" >"$f"
			python train.py --name=`+l.work+`; code=$?
			echo "end=$(date +%s) exit=$code" >>"$f"`)
	}
	run.Env = []string{"HOME=" + l.box.Home, "PATH=" + l.box.Bin + ":/usr/local/bin:/usr/bin:/bin"}
	in, err := run.StdinPipe()
	l.must(err)
	l.must(run.Start())
	l.t.Cleanup(func() { _ = in.Close(); _ = run.Wait() })
	return func(code int) {
		l.t.Helper()
		_, err := fmt.Fprintln(in, code)
		l.must(err)
	}
}

// call is one request as the platform got and answered it.
type call struct {
	at, answered time.Time
	path, uuid   string
	answer       []byte
}

// record lets the platform answer, and remembers both.
func (l *e2e) record(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the double judges it
	r.Body = io.NopCloser(bytes.NewReader(body))
	var named struct {
		UUID string `json:"instance_uuid"`
	}
	_ = json.Unmarshal(body, &named)
	c := &call{at: time.Now(), path: r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], uuid: named.UUID + r.URL.Query().Get("instance_uuid")}
	l.mu.Lock()
	l.calls = append(l.calls, c)
	l.mu.Unlock()
	answer := &bytes.Buffer{}
	l.cloud.ServeHTTP(tee{w, answer}, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	c.answered, c.answer = time.Now(), answer.Bytes()
}

// tee writes an answer twice.
type tee struct {
	http.ResponseWriter
	copy io.Writer
}

// Write writes a part of the body.
func (t tee) Write(p []byte) (int, error) {
	_, _ = t.copy.Write(p) // a buffer takes everything
	return t.ResponseWriter.Write(p)
}

// requests gives the answered requests so far whose path ends so; all for "".
func (l *e2e) requests(path string) []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []call
	for _, c := range l.calls {
		if !c.answered.IsZero() && (path == "" || c.path == path) {
			out = append(out, *c)
		}
	}
	return out
}

// shows gives the status of an instance in the answer to a list; "" if it is not
// there.
func (c call) shows(uuid string) string {
	var a struct {
		Data struct {
			List []struct{ UUID, Status string }
		}
	}
	if c.path != "list" || json.Unmarshal(c.answer, &a) != nil {
		return ""
	}
	for _, i := range a.Data.List {
		if i.UUID == uuid {
			return i.Status
		}
	}
	return ""
}
