//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"curfew/internal/ctl"
	"curfew/internal/store"
)

// The fleet of the idle daemon, and how long it is watched: two looks and a poll
// of every instance, and the passes that follow.
const (
	idleInstances = 50
	idlePolicies  = 10
	idleFor       = time.Minute
)

// BenchmarkIdle runs the daemon as it is shipped over a fleet that trains all the
// time, and measures what it takes: from its start to the end of the first pass
// over every instance, with an empty state and with one that is there, and
// memory and processor time while nothing happens.
func BenchmarkIdle(b *testing.B) {
	bin := shipped(b)
	info, err := os.Stat(bin)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("instances=%d/policies=%d", idleInstances, idlePolicies), func(b *testing.B) {
		for b.Loop() {
			dir := b.TempDir()
			idleFiles(b, dir)
			cold := startIdle(b, bin, dir, (*idle).noted)
			cold.settle()
			before, began := cold.processorTime(), time.Now()
			time.Sleep(idleFor)
			used, took := cold.processorTime()-before, time.Since(began)
			b.ReportMetric(cold.status("VmRSS"), "rss-MB")
			b.ReportMetric(cold.status("VmHWM"), "peak-MB")
			b.ReportMetric(cold.status("RssAnon"), "anon-MB")
			b.ReportMetric(100*used.Seconds()/took.Seconds(), "cpu-%")
			b.ReportMetric(float64(cold.ready.Microseconds())/1000, "start-ms")
			cold.stop()
			warm := startIdle(b, bin, dir, (*idle).passed)
			b.ReportMetric(float64(warm.ready.Microseconds())/1000, "restart-ms")
			warm.stop()
		}
		b.ReportMetric(float64(info.Size())/1e6, "binary-MB")
		b.ReportMetric(0, "ns/op")
	})
}

// shipped builds the program as it is shipped.
func shipped(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "curfew")
	build := exec.CommandContext(b.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// idleFiles writes a configuration and a world in which every instance trains.
func idleFiles(b *testing.B, dir string) {
	b.Helper()
	var file, world strings.Builder
	file.WriteString(`
mode: enforce
state: sqlite:curfew.db
accounts: [{name: lab, provider: sim, world: world.yaml, poll: 1m}]
signals: [{type: sim, every: 30s, timeout: 10s}]
notify: {channels: [{name: me, type: console}]}
policies:
`)
	for p := range idlePolicies {
		fmt.Fprintf(&file, "  - {name: p%d, type: training, match: {name: \"exp-*\"}, process: 'job%d\\.py', then: stop}\n", p, p)
	}
	world.WriteString("accounts: [{name: lab}]\ninstances:\n")
	for n := range idleInstances {
		fmt.Fprintf(&world, "  - {id: i-%02d, account: lab, name: exp-%02d, age: 4h, price: 1.98 CNY, gpu: {model: RTX 4090, count: 1, memory_gb: 24},\n"+
			"     box: {processes: [{command: python -u job%d.py, from: -3h, run: r-%02d, load: 97, memory_mb: 20000}]}}\n", n, n, n%idlePolicies, n)
	}
	for name, text := range map[string]string{"curfew.yaml": file.String(), "world.yaml": world.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// idle is a daemon that is measured.
type idle struct {
	b      *testing.B
	cmd    *exec.Cmd
	said   *bytes.Buffer
	client *ctl.Client
	ready  time.Duration // from its start to the first pass
}

// startIdle starts the daemon and waits until its first pass is over.
func startIdle(b *testing.B, bin, dir string, over func(*idle, context.Context) bool) *idle {
	b.Helper()
	i := &idle{b: b, said: &bytes.Buffer{}, client: ctl.NewClient(ctl.SocketPath(filepath.Join(dir, "curfew.db")))}
	i.cmd = exec.CommandContext(b.Context(), bin, "run", "--config", filepath.Join(dir, "curfew.yaml"))
	i.cmd.Dir, i.cmd.Stderr = dir, i.said
	i.cmd.Cancel = func() error { return i.cmd.Process.Signal(syscall.SIGTERM) }
	began := time.Now()
	if err := i.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for !over(i, b.Context()) {
		if time.Since(began) > time.Minute {
			i.stop()
			b.Fatalf("no pass within a minute:\n%s", i.said)
		}
		time.Sleep(time.Millisecond)
	}
	i.ready = time.Since(began)
	return i
}

// passed reports whether a pass was made. Over a state that knows the instances,
// the first one is about all of them.
func (i *idle) passed(ctx context.Context) bool {
	s, err := i.client.Status(ctx)
	return err == nil && s.Instances == idleInstances && !s.LastPass.IsZero()
}

// noted reports whether a pass has noted what the last instance does; it notes all
// of them at once.
func (i *idle) noted(ctx context.Context) bool {
	e, err := i.client.Explain(ctx, fmt.Sprintf("exp-%02d", idleInstances-1))
	return err == nil && slices.ContainsFunc(e.History, func(s store.Segment) bool { return s.What == "activity" })
}

// settle waits until the first looks are judged.
func (i *idle) settle() {
	for range 500 {
		plan, err := i.client.Plan(i.b.Context())
		if err == nil && len(plan.Items) == idleInstances && len(plan.Items[0].Activity.Sources) > 0 && plan.Items[0].Activity.Sources[0].Fresh {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	i.b.Fatal("nothing was looked at within five seconds")
}

// processorTime is what the daemon has used so far.
func (i *idle) processorTime() time.Duration {
	i.b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", i.cmd.Process.Pid))
	if err != nil {
		i.b.Fatal(err)
	}
	// The name, in brackets, may hold anything; user and system time are the 12th
	// and 13th field after it, in hundredths of a second.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			i.b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// status is a size from the process's status, in MB.
func (i *idle) status(key string) float64 {
	i.b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.cmd.Process.Pid))
	if err != nil {
		i.b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if name, rest, _ := strings.Cut(line, ":"); name == key {
			if _, err := fmt.Sscanf(rest, "%f kB", &kb); err != nil {
				i.b.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	i.b.Fatalf("there is no %s", key)
	return 0
}

func (i *idle) stop() {
	i.b.Helper()
	if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		i.b.Fatal(err)
	}
	if err := i.cmd.Wait(); err != nil {
		i.b.Errorf("the daemon ended with: %v\n%s", err, i.said)
	}
}
