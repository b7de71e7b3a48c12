package machines

import (
	"errors"
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

// cycle is one power cycle of a machine.
type cycle struct {
	boot      fleet.Boot
	startedAt time.Time
}

// readCycle reads the power cycle of the machine curfew runs in.
func readCycle(proc string) (cycle, error) {
	first, err := os.ReadFile(filepath.Join(proc, "1", "stat"))
	if err != nil {
		return cycle{}, err
	}
	// What cannot be read tells nothing.
	id, _ := os.ReadFile(filepath.Join(proc, "sys", "kernel", "random", "boot_id"))
	kernel, _ := os.ReadFile(filepath.Join(proc, "stat"))
	c, err := cycleOf(string(first), string(id), string(kernel))
	if err != nil {
		return cycle{}, fmt.Errorf("%s: %w", proc, err)
	}
	return c, nil
}

// cycleOf tells the power cycle by process 1, the first of a machine or a
// container: what ends it ends everything in there. It is given what /proc says of
// process 1, of the kernel's boot id and of the kernel.
//
// The start of process 1 is counted in ticks from the kernel's start. That number
// and the kernel's own id of its boot never change while process 1 lives, whatever
// is done to the clocks, and no two power cycles share both: together they are the
// Boot. The kernel's id alone is not enough, since in a container it is that of the
// host, which goes on when the container is stopped and started.
//
// For people, and for what it costs, the start is also told as a time: the
// kernel's start by btime, which is in whole seconds, and the ticks rounded down to
// seconds, so that every read gives the same time. btime moves only when somebody
// sets the clock; no Boot depends on it, but where the kernel's id cannot be read.
// The time a machine is up (/proc/uptime) is never asked: in a container it may be
// that of the host or of anything else.
func cycleOf(first, id, kernel string) (cycle, error) {
	start, ok := startTicks(first)
	if !ok {
		return cycle{}, errors.New("what it says of process 1 is unclear")
	}
	var c cycle
	if at, ok := kernelStart(kernel); ok {
		c.startedAt = at.Add(time.Duration(start/ticks) * time.Second)
	}
	switch id := strings.ReplaceAll(strings.TrimSpace(id), "-", ""); {
	case isBootID(id):
		c.boot = fleet.Boot(fmt.Sprintf("p%s-%d", id, start))
	case !c.startedAt.IsZero():
		c.boot = fleet.BootAt(c.startedAt)
	default:
		return cycle{}, errors.New("it tells neither the kernel's boot id nor its start")
	}
	return c, nil
}

// isBootID reports whether the words are a kernel's boot id without its dashes.
func isBootID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
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
func kernelStart(stat string) (time.Time, bool) {
	for line := range strings.Lines(stat) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return time.Unix(n, 0).UTC(), err == nil && n > 0 && n < 1<<36
		}
	}
	return time.Time{}, false
}
