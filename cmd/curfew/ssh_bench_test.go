//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/sshx/sshdtest"
)

// The machines that are looked at over SSH, and for how long they are watched: four
// looks and two polls of each.
const (
	sshMachines = 200
	sshFor      = 2 * time.Minute
)

// BenchmarkSSH runs the daemon as it is shipped over declared machines that are all
// behind one real OpenSSH server, each at a port of its own, and measures what the
// daemon itself takes to poll and to look at them.
func BenchmarkSSH(b *testing.B) {
	bin := shipped(b)
	b.Run(fmt.Sprintf("machines=%d", sshMachines), func(b *testing.B) {
		for b.Loop() {
			dir := b.TempDir()
			proxies := sshFiles(b, dir)
			i := startIdle(b, bin, dir, (*idle).seen)
			before, began := i.processorTime(), time.Now()
			time.Sleep(sshFor)
			used, took := i.processorTime()-before, time.Since(began)
			b.ReportMetric(100*used.Seconds()/took.Seconds(), "cpu-%")
			b.ReportMetric(i.status("VmRSS"), "rss-MB")
			b.ReportMetric(float64(i.ready.Milliseconds()), "seen-ms")
			if !i.seen(b.Context()) {
				b.Error("not all of them are seen any more")
			}
			made := 0
			for _, p := range proxies {
				made += p.Taken()
			}
			// Two are kept: that of the looks, and that of the polls.
			if made != 2*sshMachines {
				b.Errorf("%d connections were made, want 2 to each", made)
			}
			i.stop()
			for _, p := range proxies {
				p.Close()
			}
		}
		b.ReportMetric(0, "ns/op")
	})
}

// sshFiles writes a configuration in which every machine is a port of one server.
func sshFiles(b *testing.B, dir string) []*sshdtest.Proxy {
	b.Helper()
	box := sshdtest.Start(b, sshdtest.Options{NvidiaSMI: `echo "0, NVIDIA GeForce RTX 4090, 97, 20000, 300.00, [N/A]"`})
	furnishProcesses(b, box)
	var file strings.Builder
	fmt.Fprintf(&file, `
mode: enforce
state: sqlite:curfew.db
signals: [{type: ssh, every: 30s, timeout: 10s, key: {file: key}}]
notify: {channels: [{name: me, type: console}]}
policies: [{name: done, type: training, match: all, process: 'job\.py', then: stop}]
accounts:
  - name: lab
    provider: machines
    poll: 1m
    machines:
`)
	var proxies []*sshdtest.Proxy
	for n := range sshMachines {
		p := sshdtest.NewProxy(b, box.Access())
		proxies = append(proxies, p)
		fmt.Fprintf(&file, "      - {name: exp-%03d, host: %s, port: %d, user: %s, stop: poweroff, gpu: {model: RTX 4090, count: 1}}\n", n, p.Host, p.Port, box.User)
	}
	for name, text := range map[string]string{"curfew.yaml": file.String(), "key": string(box.KeyPEM)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return proxies
}

// sshProcesses is how many processes each machine shows.
const sshProcesses = 100

// furnishProcesses lets a login see the processes of a machine of its own: without
// that each would show the hundreds of all these logins.
func furnishProcesses(b *testing.B, box *sshdtest.Server) {
	b.Helper()
	var commands, stats strings.Builder
	for n := range sshProcesses {
		pid := n*7 + 1
		fmt.Fprintf(&commands, "/proc/%d/cmdline:/usr/bin/python3\x00-u\x00worker.py\x00--config\x00/root/configs/experiment-%d.yaml\x00\n", pid, n)
		fmt.Fprintf(&stats, "%d (python3) S 1 1 1 0 -1 4194560 12345 67890 12 34 5678 910 11 12 20 0 17 0 %d 12345678 54321 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, 100*n)
	}
	for name, text := range map[string]string{"commands": commands.String(), "stats": stats.String()} {
		if err := os.WriteFile(filepath.Join(box.Home, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	box.StandIn("grep", `case $1 in
-la) exit 1;;
-aH) if [ $# -gt 3 ]; then /bin/cat ~/commands; set -- -aH '' /proc/$PPID/cmdline; fi;;
esac
exec /bin/grep "$@"`)
	box.StandIn("cat", `case $1 in /proc/*/stat) if [ $# -gt 1 ]; then set -- ~/stats /proc/$PPID/stat; fi;; esac
exec /bin/cat "$@"`)
	box.StandIn("who", "exit 0")
}

// seen reports whether there is a fresh look at every machine.
func (i *idle) seen(ctx context.Context) bool {
	time.Sleep(time.Second) // to ask costs the daemon time
	plan, err := i.client.Plan(ctx)
	if err != nil || len(plan.Items) != sshMachines {
		return false
	}
	for _, item := range plan.Items {
		if s := item.Activity.Sources; item.Activity.Activity != fleet.Busy || len(s) == 0 || !s[0].Fresh {
			return false
		}
	}
	return true
}
