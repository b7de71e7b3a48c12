package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"curfew/notify/wecom/wecomtest"
	"curfew/providers/autodl/autodltest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"curfew": main})
}

func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("USER", "wang")
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("NO_PROXY", "*")
			port, err := freePort()
			e.Setenv("PING_PORT", port)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "until": until, "json": checkJSON, "signal": sendSignal, "manager": serviceManager,
			"robot": double(func(key string) (http.Handler, func()) {
				return wecomtest.New(key, time.Now, t.Errorf), func() {}
			}),
			"autodl": double(func(key string) (http.Handler, func()) {
				cloud := autodltest.New(autodltest.Options{Now: time.Now, Token: key})
				return cloud, func() {
					for _, p := range cloud.Problems() {
						t.Errorf("autodl double: %s", p)
					}
				}
			}),
		},
	})
}

// freePort gives a port of this machine at which nobody listens, below those from
// which connections are made: one of them could be taken before it is used.
func freePort() (string, error) {
	const lowest, ports = 10000, 20000
	for n := range 100 {
		port := strconv.Itoa(lowest + (os.Getpid()*31+n)%ports)
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err == nil {
			return port, l.Close()
		}
	}
	return "", errors.New("no free port was found")
}

// exits CODE COMMAND… runs a command that must end with this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("write exits CODE COMMAND…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("it ended with %d, want %s", code, args[0])
	}
}

// untilLongest is how long a script waits for something before it gives up.
const untilLongest = time.Minute

// until TEXT COMMAND… repeats a command until it succeeds and prints the text.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("write until TEXT COMMAND…")
	}
	deadline := time.Now().Add(untilLongest)
	for {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("never said %q; the last error was %v", args[0], err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// json FILE [PATH WANT] checks that a file is JSON and, at a path of keys and
// indices, holds a value.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("write json FILE [PATH WANT]")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	if len(args) == 1 {
		return
	}
	for key := range strings.SplitSeq(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(x) {
				ts.Fatalf("%s: %s of a list of %d", args[1], key, len(x))
			}
			v = x[n]
		default:
			ts.Fatalf("%s: there is no %s in %v", args[1], key, v)
		}
	}
	if got := fmt.Sprint(v); got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

// signal NAME sends a signal to the only command in the background.
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	cmds := ts.BackgroundCmds()
	if neg || len(args) != 1 || signals[args[0]] == nil || len(cmds) != 1 {
		ts.Fatalf("write signal TERM or signal HUP, with one command in the background; there are %d", len(cmds))
	}
	ts.Check(cmds[0].Process.Signal(signals[args[0]]))
}

// serviceManager stands for the service manager: it writes what the daemon tells it into
// the file manager, a line each.
func serviceManager(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("write manager")
	}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: ts.MkAbs("manager.sock"), Net: "unixgram"})
	ts.Check(err)
	file, err := os.Create(ts.MkAbs("manager"))
	ts.Check(err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1024)
		for {
			n, err := l.Read(buf)
			if err != nil {
				return
			}
			fmt.Fprintf(file, "%s\n", buf[:n])
		}
	}()
	ts.Defer(func() {
		l.Close()
		<-done
		file.Close()
	})
	ts.Setenv("NOTIFY_SOCKET", ts.MkAbs("manager.sock"))
}

// double KEY FILE starts the double of a service that takes the key, and writes its
// address into the file in place of @URL@. A request that no correct client sends
// fails the test.
func double(start func(key string) (http.Handler, func())) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("write robot KEY FILE or autodl KEY FILE")
		}
		handler, end := start(args[0])
		server := httptest.NewServer(handler)
		ts.Defer(func() {
			server.Close()
			end()
		})
		file := ts.MkAbs(args[1])
		ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(ts.ReadFile(args[1]), "@URL@", server.URL)), 0o600))
	}
}

// The demo's world is the simulator's own, word for word.
func TestTheDemosWorldIsTheSimulators(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "..", "providers", "sim", "testdata", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("demo/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("cmd/curfew/demo/world.yaml and providers/sim/testdata/demo.yaml differ; copy the one over the other")
	}
}
