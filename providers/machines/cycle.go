package machines

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
)

// ticks is how many clock ticks /proc counts to a second; it is the same on every
// Linux that has cards.
const ticks = 100

// cycle is one power cycle of the machine curfew runs in.
type cycle struct {
	boot      fleet.Boot
	startedAt time.Time
}

// readCycle tells the power cycle by process 1, the first of a machine or a
// container: what ends it ends everything in there, curfew too.
//
// Its start is counted in ticks from the kernel's start. That number and the
// kernel's own id of its boot never change while process 1 lives, whatever is done
// to the clocks, and no two power cycles share both: together they are the Boot.
// The kernel's id alone is not enough, since in a container it is that of the host,
// which goes on when the container is stopped and started.
//
// For people, and for what it costs, the start is also told as a time: the
// kernel's start by btime, which is in whole seconds, and the ticks rounded down to
// seconds, so that every read gives the same time. btime moves only when somebody
// sets the clock; no Boot depends on it, but where the kernel's id cannot be read.
// The time a machine is up (/proc/uptime) is never asked: in a container it may be
// that of the host or of anything else.
func readCycle(proc string) (cycle, error) {
	stat, err := os.ReadFile(filepath.Join(proc, "1", "stat"))
	if err != nil {
		return cycle{}, err
	}
	start, ok := startTicks(string(stat))
	if !ok {
		return cycle{}, fmt.Errorf("%s is unclear", filepath.Join(proc, "1", "stat"))
	}
	var c cycle
	if at, ok := kernelStart(proc); ok {
		c.startedAt = at.Add(time.Duration(start/ticks) * time.Second)
	}
	id, err := os.ReadFile(filepath.Join(proc, "sys", "kernel", "random", "boot_id"))
	switch kernel := strings.ReplaceAll(strings.TrimSpace(string(id)), "-", ""); {
	case err == nil && len(kernel) == 32:
		c.boot = fleet.Boot(fmt.Sprintf("p%s-%d", kernel, start))
	case !c.startedAt.IsZero():
		c.boot = fleet.BootAt(c.startedAt)
	default:
		return cycle{}, fmt.Errorf("%s tells neither the kernel's boot id nor its start", proc)
	}
	return c, nil
}

// startTicks reads field 22 of a line of /proc/PID/stat. The name in brackets may
// hold anything.
func startTicks(stat string) (int64, bool) {
	bracket := strings.LastIndex(stat, ") ")
	if bracket < 0 {
		return 0, false
	}
	fields := strings.Fields(stat[bracket+2:])
	if len(fields) < 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[19], 10, 64)
	return n, err == nil && n >= 0 && n < 1<<40
}

// kernelStart reads btime, the second in which the kernel started.
func kernelStart(proc string) (time.Time, bool) {
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(stat)) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return time.Unix(n, 0).UTC(), err == nil && n > 0 && n < 1<<36
		}
	}
	return time.Time{}, false
}
