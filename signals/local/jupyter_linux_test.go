package local_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/signals"
)

// python is the one that Debian's packages are for.
const python = "/usr/bin/python3"

// serveJupyter starts the server under a name that tells nobody what it is: other
// tests look at this machine at the same time, and must not find somebody at work.
const serveJupyter = `from jupyter_server.serverapp import main
main()
`

// execute lets a kernel work on something and ends once it does.
const execute = `import sys
from queue import Empty
from jupyter_client import BlockingKernelClient
c = BlockingKernelClient(connection_file=sys.argv[1])
c.load_connection_file()
c.start_channels(hb=False)
def hears(asked, timeout, state=None):
    while True:
        m = c.get_iopub_msg(timeout=timeout)
        if m["parent_header"].get("msg_id") == asked and state in (None, m["content"].get("execution_state")):
            return True
for _ in range(60):
    try:
        if hears(c.kernel_info(), 1): break
    except Empty:
        pass
hears(c.execute(sys.argv[2]), 30, "busy")
`

// realJupyter is a Jupyter server of Debian's, with terminals of its own as in a
// container.
type realJupyter struct {
	t     *testing.T
	b     *bench
	pid   int
	file  string // its runtime file
	url   string
	token string
}

func startJupyter(t *testing.T, b *bench) *realJupyter {
	t.Helper()
	missing := ""
	if os.Geteuid() != 0 {
		missing = "only root can give it terminals of its own"
	} else if out, err := exec.CommandContext(t.Context(), python, "-c", "import jupyter_server, jupyter_client, ipykernel, terminado").CombinedOutput(); err != nil {
		missing = fmt.Sprintf("jupyter-server and python3-ipykernel are not installed: %v %s", err, out)
	}
	if missing != "" {
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b.write("serve.py", serveJupyter)
	b.write("execute.py", execute)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts &&
		mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@"`, "sh", python, "serve.py",
		"--no-browser", "--allow-root", "--ip=127.0.0.1", fmt.Sprintf("--port=%d", port))
	cmd.Dir, cmd.Env = b.home, []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + b.home, "SHELL=/bin/sh"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	log, err := os.Create(filepath.Join(b.home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j := &realJupyter{t: t, b: b, pid: cmd.Process.Pid}
	j.file = filepath.Join(b.home, runtimeDir, fmt.Sprintf("jpserver-%d.json", j.pid))
	t.Cleanup(func() {
		j.kill()
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("the server said:\n%s", said)
		}
	})
	var info struct{ URL, Token string }
	until(t, "the server to listen", func() bool {
		text, err := os.ReadFile(j.file)
		if err != nil || json.Unmarshal(text, &info) != nil {
			return false
		}
		j.url, j.token = info.URL, info.Token
		return j.call(http.MethodGet, "api/status") != ""
	})
	return j
}

// kill ends the server and all that it started, without a word.
func (j *realJupyter) kill() {
	pids := []int{j.pid}
	for n := 0; n < len(pids); n++ {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pids[n], pids[n]))
		for id := range strings.FieldsSeq(string(children)) {
			var pid int
			if _, err := fmt.Sscan(id, &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// call asks the server and gives the answer, "" if there is none.
func (j *realJupyter) call(method, path string) string {
	j.t.Helper()
	r, err := http.NewRequestWithContext(j.t.Context(), method, j.url+path, nil)
	if err != nil {
		j.t.Fatal(err)
	}
	r.Header.Set("Authorization", "token "+j.token)
	r.Close = true
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		return ""
	}
	return string(body)
}

// execute lets a kernel begin to work on the code.
func (j *realJupyter) execute(kernel, code string) {
	j.t.Helper()
	connection := filepath.Join(j.b.home, runtimeDir, "kernel-"+kernel+".json")
	out, err := exec.CommandContext(j.t.Context(), python, filepath.Join(j.b.home, "execute.py"), connection, code).CombinedOutput()
	if err != nil {
		j.t.Fatalf("no code could be executed: %v\n%s", err, out)
	}
}

func named(f fleet.Facts, kind, name string) *fleet.Session {
	for n, s := range f.Sessions {
		if s.Kind == kind && strings.Contains(s.Name, name) {
			return &f.Sessions[n]
		}
	}
	return nil
}

func TestARealJupyterServer(t *testing.T) {
	b := newBench(t)
	j := startJupyter(t, b)
	s := b.source()
	see := func() fleet.Evidence {
		t.Helper()
		e := look(t, s)
		if why := e.Facts.Unreadable["jupyter"]; strings.Contains(why, fmt.Sprint(j.pid)) {
			t.Fatal(why)
		}
		return e
	}
	if k := named(see().Facts, "tty", "jupyter 1"); k != nil {
		t.Errorf("a server that only runs shows %+v", k)
	}

	var model struct{ ID string }
	if err := json.Unmarshal([]byte(j.call(http.MethodPost, "api/kernels")), &model); err != nil || len(model.ID) < 8 {
		t.Fatalf("no kernel was started: %v", err)
	}
	id := model.ID[:8]
	if k := named(see().Facts, "kernel", id); k == nil || k.Busy || k.Idle > 10*time.Second {
		t.Errorf("a kernel that was just started is seen as %+v", k)
	}

	// The server hears of its kernel a little later than it starts it, and what it did
	// not hear it does not tell.
	until(t, "the server to hear of its kernel", func() bool {
		j.execute(model.ID, "pass")
		var heard struct {
			State string `json:"execution_state"`
		}
		return json.Unmarshal([]byte(j.call(http.MethodGet, "api/kernels/"+model.ID)), &heard) == nil && heard.State == "idle"
	})

	gate := filepath.Join(b.home, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	j.execute(model.ID, fmt.Sprintf("open(%q).read()", gate))
	var busy fleet.Evidence
	until(t, "the kernel to be seen busy", func() bool {
		busy = see()
		k := named(busy.Facts, "kernel", id)
		return k != nil && k.Busy
	})
	if e := signals.Judge(busy, signals.Limits{}, nil); e.Activity != fleet.Busy || e.Reason.Code != signals.ReasonBusyKernel {
		t.Errorf("it is %s, %v", e.Activity, e.Reason)
	}
	if err := os.WriteFile(gate, nil, 0); err != nil {
		t.Fatal(err)
	}
	until(t, "the kernel to be seen idle", func() bool {
		k := named(see().Facts, "kernel", id)
		return k != nil && !k.Busy && k.Idle < 10*time.Second
	})

	if j.call(http.MethodPost, "api/terminals") == "" {
		t.Fatal("no terminal was opened")
	}
	if k := named(see().Facts, "tty", "jupyter 1"); k == nil || k.Idle > 10*time.Second {
		t.Errorf("its terminal is seen as %+v", k)
	}

	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	b.standIn("shell", "exec unshare -m /bin/sh -c 'mount --bind /dev/null "+curl+" && exec sh -s curfew-look'")
	b.standIn("python3", `echo "$*" >"$HOME/asked"; exec `+python+` "$@"`)
	b.o.Shell = filepath.Join(b.bin, "shell")
	if k := named(look(t, b.source()).Facts, "kernel", id); k == nil {
		t.Error("without curl no kernel is seen")
	}
	if asked, err := os.ReadFile(filepath.Join(b.home, "asked")); err != nil || strings.Contains(string(asked), j.token) {
		t.Errorf("without curl Python asks, and its command line holds no token: %v", err)
	}

	text, err := os.ReadFile(j.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(j.file, []byte(strings.Replace(string(text), j.token, "another", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	f := look(t, s).Facts
	if why := f.Unreadable["jupyter"]; !strings.Contains(why, "refuses the token") || named(f, "kernel", id) != nil {
		t.Errorf("with another token the reading fails by %q and shows %+v", why, f.Sessions)
	}

	j.kill()
	until(t, "the server to be gone", func() bool { return !alive(j.pid) })
	if f := see().Facts; named(f, "kernel", id) != nil {
		t.Errorf("it has ended, and shows %+v", f.Sessions)
	}
}
