package local_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
)

const jupyterToken = "jt-hunter2"

// jupyter stands in for a Jupyter server. It refuses everything but the two
// questions of a look, asked with its token.
type jupyter struct {
	base    string // base_url
	token   string // "": it asks for none
	kernels string
	delay   chan struct{} // not nil: it answers once this is closed
}

func (j jupyter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if j.delay != nil {
		<-j.delay
	}
	want := ""
	if j.token != "" {
		want = "token " + j.token
	}
	switch {
	case r.Method != http.MethodGet || r.URL.RawQuery != "no_track_activity=1":
		http.Error(w, "a look does not ask "+r.Method+" "+r.URL.RequestURI(), http.StatusTeapot)
	case r.Header.Get("Authorization") != want:
		http.Error(w, `{"message": "Forbidden"}`, http.StatusForbidden)
	case r.URL.Path == j.base+"api/kernels":
		fmt.Fprint(w, j.kernels)
	default:
		http.NotFound(w, r)
	}
}

func (j jupyter) serve(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(j)
	t.Cleanup(s.Close)
	return s
}

// runtimeFile is what a server writes down of itself, as it writes it.
func runtimeFile(t *testing.T, address net.Addr, changes map[string]any) string {
	t.Helper()
	info := map[string]any{
		"base_url": "/", "hostname": "127.0.0.1", "password": false, "pid": os.Getpid(), "port": 0,
		"root_dir": "/root", "secure": false, "sock": "", "token": jupyterToken, "version": "1.23.3",
	}
	if tcp, ok := address.(*net.TCPAddr); ok {
		info["port"] = tcp.Port
	}
	for key, value := range changes {
		info[key] = value
	}
	text, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const runtimeDir = ".local/share/jupyter/runtime/"

// own is the name of a runtime file of this very process: it is there, and no
// command line tells that it is a server.
func own() string { return fmt.Sprintf("%sjpserver-%d.json", runtimeDir, os.Getpid()) }

func kernel(state string, last time.Time) string {
	return fmt.Sprintf(`{"id": "4f2a1c00-8de8-4784", "name": "python3", "last_activity": %q, "execution_state": %q, "connections": 1}`,
		last.UTC().Format("2006-01-02T15:04:05.000000Z"), state)
}

// kernels gives the sessions that are the kernel above, with its idle time in
// minutes.
func kernels(f fleet.Facts) []string {
	var all []string
	for _, s := range f.Sessions {
		if s.Kind == "kernel" && strings.HasSuffix(s.Name, " 4f2a1c00") {
			busy := ""
			if s.Busy {
				busy = ", busy"
			}
			all = append(all, fmt.Sprintf("%s idle %.0f min%s", s.Name, s.Idle.Minutes(), busy))
		}
	}
	return all
}

func TestJupyterServersAreAskedForTheirKernels(t *testing.T) {
	hourAgo := time.Now().Add(-time.Hour)
	busy, idle := "["+kernel("busy", hourAgo)+"]", "["+kernel("idle", hourAgo)+"]"
	const seenBusy, seenIdle = "kernel python3 4f2a1c00 idle 60 min, busy", "kernel python3 4f2a1c00 idle 60 min"
	for _, c := range []struct {
		name string
		at   func(t *testing.T, b *bench)
		want string // the kernel seen
		why  string // what makes the reading fail
	}{
		{"a busy kernel", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: busy}.serve(t).Listener.Addr(), nil))
		}, seenBusy, ""},
		{"an idle kernel", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: idle}.serve(t).Listener.Addr(), nil))
		}, seenIdle, ""},
		{"no kernel", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: "[]"}.serve(t).Listener.Addr(), nil))
		}, "", ""},
		{"a notebook of old, below a path, without a token, on every address", func(t *testing.T, b *bench) {
			s := jupyter{base: "/user/wang@lab/", kernels: busy}.serve(t)
			b.write(strings.Replace(own(), "jpserver", "nbserver", 1), runtimeFile(t, s.Listener.Addr(), map[string]any{"base_url": "/user/wang@lab/", "hostname": "0.0.0.0", "token": ""}))
		}, seenBusy, ""},
		{"a certificate that nobody signed", func(t *testing.T, b *bench) {
			s := httptest.NewTLSServer(jupyter{base: "/", token: jupyterToken, kernels: busy})
			t.Cleanup(s.Close)
			b.write(own(), runtimeFile(t, s.Listener.Addr(), map[string]any{"secure": true}))
		}, seenBusy, ""},
		{"a Unix socket", func(t *testing.T, b *bench) {
			path := filepath.Join(b.home, "jupyter.sock")
			l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
			if err != nil {
				t.Fatal(err)
			}
			s := &httptest.Server{Listener: l, Config: &http.Server{Handler: jupyter{base: "/", token: jupyterToken, kernels: busy}}}
			s.Start()
			t.Cleanup(s.Close)
			b.write(own(), runtimeFile(t, l.Addr(), map[string]any{"sock": path, "hostname": "localhost"}))
		}, seenBusy, ""},
		{"a proxy in the way", func(t *testing.T, b *bench) {
			b.o.Env = append(b.o.Env, "http_proxy=http://127.0.0.1:9", "ALL_PROXY=http://127.0.0.1:9")
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: busy}.serve(t).Listener.Addr(), nil))
		}, seenBusy, ""},
		{"a token that is refused", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: "another", kernels: busy}.serve(t).Listener.Addr(), nil))
		}, "", "it refuses the token that it wrote down (HTTP 403)"},
		{"a server that hangs", func(t *testing.T, b *bench) {
			b.o.Timeout = 2 * time.Second
			j := jupyter{base: "/", token: jupyterToken, kernels: busy, delay: make(chan struct{})}
			s := j.serve(t)
			t.Cleanup(func() { close(j.delay) })
			b.write(own(), runtimeFile(t, s.Listener.Addr(), nil))
		}, "", "it does not answer in time"},
		{"an answer without end", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: "[" + strings.Repeat(kernel("busy", hourAgo)+",\n", 3000)}.serve(t).Listener.Addr(), nil))
		}, "", "its answer is too long"},
		{"a file left behind", func(t *testing.T, b *bench) {
			s := jupyter{}.serve(t)
			s.Close()
			b.write(own(), runtimeFile(t, s.Listener.Addr(), nil))
		}, "", ""},
		{"a file of a process that is gone", func(t *testing.T, b *bench) {
			b.write(runtimeDir+"jpserver-4194304.json", runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: busy}.serve(t).Listener.Addr(), nil))
		}, "", ""},
		{"a token that would break out of its quotes", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", kernels: busy}.serve(t).Listener.Addr(), map[string]any{"token": "x\"\noutput = \"/tmp/x"}))
		}, "", "its runtime file is unclear"},
		{"a path that would end the line", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", kernels: busy}.serve(t).Listener.Addr(), map[string]any{"token": "", "base_url": "/$(id)"}))
		}, "", "its runtime file is unclear"},
		{"a file that was written in part", func(t *testing.T, b *bench) {
			text := runtimeFile(t, jupyter{base: "/", kernels: busy}.serve(t).Listener.Addr(), nil)
			b.write(own(), text[:strings.Index(text, `"port"`)])
		}, "", "its runtime file is unclear"},
		{"a server of something else", func(t *testing.T, b *bench) {
			b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: "<html>"}.serve(t).Listener.Addr(), nil))
		}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.at(t, b)
			f := look(t, b.source()).Facts
			if got := strings.Join(kernels(f), "; "); got != c.want {
				t.Errorf("kernels %q, want %q", got, c.want)
			}
			if why := f.Unreadable["jupyter"]; !strings.Contains(why, c.why) || c.why == "" && strings.Contains(why, fmt.Sprint(os.Getpid())) {
				t.Errorf("the reading fails by %q, want %q", why, c.why)
			}
		})
	}
}

func TestATokenIsInNoCommandLine(t *testing.T) {
	real, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	b := newBench(t)
	b.standIn("curl", `echo "$*" >"$HOME/args"; tee "$HOME/input" | `+real+` "$@"`)
	b.write(own(), runtimeFile(t, jupyter{base: "/", token: jupyterToken, kernels: "[" + kernel("busy", time.Now()) + "]"}.serve(t).Listener.Addr(), nil))
	f := look(t, b.source()).Facts
	if len(kernels(f)) != 1 {
		t.Fatalf("the server was not asked: %v", f.Unreadable)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(b.home, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if args := read("args"); strings.Contains(args, jupyterToken) || !strings.Contains(read("input"), jupyterToken) {
		t.Errorf("curl was called with %q", args)
	}
	if facts, err := json.Marshal(f); err != nil || strings.Contains(string(facts), jupyterToken) {
		t.Errorf("the facts hold the token, %v", err)
	}
}

// TestAServerIsFoundByItsProcess has one under its own name, in an environment
// that is not the look's. What it tells of a kernel is long past, so that whoever
// else looks at this machine meanwhile sees nobody at work.
func TestAServerIsFoundByItsProcess(t *testing.T) {
	tail, err := exec.LookPath("tail")
	if err != nil {
		t.Skip("tail is not installed")
	}
	s := jupyter{base: "/", token: jupyterToken, kernels: "[" + kernel("idle", time.Now().Add(-24*time.Hour)) + "]"}.serve(t)
	for _, c := range []struct{ name, env, dir string }{
		{"by its home", "HOME=%s", runtimeDir},
		{"by its data folder", "JUPYTER_DATA_DIR=%s", "runtime/"},
		{"by its runtime folder", "JUPYTER_RUNTIME_DIR=%s/a b", "a b/"},
		{"by the folder of all data", "XDG_DATA_HOME=%s", "jupyter/runtime/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, theirs := newBench(t), newBench(t)
			theirs.write(c.dir+"x", "")
			name := filepath.Join(theirs.bin, "jupyter-lab")
			if err := os.Symlink(tail, name); err != nil {
				t.Fatal(err)
			}
			// The file is there before the name is.
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat >"$0/jpserver-$$.json"; echo; exec "$1" -f /dev/null`, filepath.Join(theirs.home, c.dir), name)
			cmd.Env = []string{"PATH=/usr/bin:/bin", fmt.Sprintf(c.env, theirs.home)}
			cmd.Stdin = strings.NewReader(runtimeFile(t, s.Listener.Addr(), nil))
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			until(t, "the server to bear its name", func() bool {
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
				return err == nil && strings.HasPrefix(string(text), name)
			})
			f := look(t, b.source()).Facts
			if got := kernels(f); len(got) != 1 || got[0] != "kernel python3 4f2a1c00 idle 1440 min" {
				t.Errorf("kernels %q, unreadable %v", got, f.Unreadable)
			}
			if why := f.Unreadable["jupyter"]; strings.Contains(why, fmt.Sprint(cmd.Process.Pid)) {
				t.Error(why)
			}
		})
	}
}

func TestAFileSavedInAnEditorIsInput(t *testing.T) {
	b := newBench(t)
	const history = ".vscode-server/data/User/History/"
	age := func(path string, d time.Duration) {
		t.Helper()
		at := time.Now().Add(-d)
		if err := os.Chtimes(filepath.Join(b.home, path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	b.write(history+"10023e5e/osuH.py", "x = 1")
	b.write(history+"10023e5e/entries.json", "{}")
	b.write(history+"-7f1c/a b.py", "y = 2")
	b.write(history+"-7f1c/entries.json", "{}")
	age(history+"10023e5e/entries.json", 2*time.Hour)
	age(history+"10023e5e", 2*time.Hour)
	age(history+"-7f1c/entries.json", 3*time.Hour)
	age(history+"-7f1c", 90*time.Minute)
	editor := func() *fleet.Session {
		t.Helper()
		f := look(t, b.source()).Facts
		for n, s := range f.Sessions {
			if s.Kind == "vscode" && s.Name == "vscode-server" {
				return &f.Sessions[n]
			}
		}
		return nil
	}
	if s := editor(); s != nil {
		t.Errorf("no server runs, and yet: %+v", s)
	}
	tail, err := exec.LookPath("tail")
	if err != nil {
		t.Skip("tail is not installed")
	}
	server := filepath.Join(b.home, ".vscode-server/node")
	if err := os.Symlink(tail, server); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), server, "-f", "/dev/null")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if s := editor(); s == nil || s.Idle.Round(time.Minute) != 90*time.Minute {
		t.Errorf("the last file was saved 90 minutes ago, and the editor is seen as %+v", s)
	}
	age(history+"10023e5e/entries.json", time.Minute)
	if s := editor(); s == nil || s.Idle.Round(time.Minute) != time.Minute {
		t.Errorf("a file was saved again a minute ago, and the editor is seen as %+v", s)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
