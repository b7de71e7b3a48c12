package look

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
)

// ticks is how many clock ticks /proc counts to a second; it is the same on
// every Linux that has cards.
const ticks = 100

// lookArgs is the command line of every look, as /proc joins it.
const lookArgs = "sh -s curfew-look"

// ExportArgs is the command line of what copies data away before an act. What it
// starts is no more a run than a look is.
const ExportArgs = "sh -s curfew-export"

// AcceptArgs is the command line of what examines and prepares a fresh machine; it is
// left out in the same way.
const AcceptArgs = "sh -s curfew-accept"

// kin is what /proc/PID/stat tells of a process.
type kin struct {
	parent int
	start  int64 // in ticks since the kernel's start
}

// readProcesses reads the process list, without looks and what belongs to them.
// Kernel threads and zombies have no command line and are not in it. A list that
// was cut off is given as far as it came, with the reason: what is in it was
// there.
func readProcesses(a answer, q question) ([]fleet.Process, string) {
	commands, stat := a["commands"], a["stat"]
	kins := readKins(stat)
	all := readCommands(commands)
	self, parent, ok := pair(a["self"])
	hidden := func(int, string) bool { return false }
	if ok {
		hidden = looks(all, kins, self, parent)
	}
	boot, booted := readBoot(a["btime"], q.ahead)
	var processes []fleet.Process
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		if hidden(pid, all[pid]) {
			continue
		}
		p := fleet.Process{PID: pid, Command: all[pid]}
		if k, known := kins[pid]; known && booted {
			p.StartedAt = boot.Add(time.Duration(k.start) * (time.Second / ticks))
		}
		processes = append(processes, p)
	}
	_, first := kins[1]
	_, own := kins[self]
	switch {
	case !commands.ok():
		return processes, commands.failed(q.cut)
	case !stat.ok():
		return processes, stat.failed(q.cut)
	case !ok:
		return processes, "the look did not tell its own process"
	case !own || all[self] != lookArgs:
		return processes, "the list does not show the look's own process"
	case !first:
		return processes, "other people's processes are hidden from this login"
	case len(processes) == 0:
		return nil, "the process list is empty"
	}
	return processes, ""
}

// readCommands reads lines of the form /proc/PID/cmdline:ARGS, the arguments
// ended by NUL. An argument may hold line breaks: such a line has the same prefix
// again, or none.
func readCommands(s section) map[int]string {
	all := map[int]string{}
	last := 0
	lines := strings.Split(s.body, "\n")
	if !s.whole {
		lines = lines[:len(lines)-1] // the last line may be a part
	}
	for _, line := range lines {
		pid, text := last, line
		if rest, ok := strings.CutPrefix(line, "/proc/"); ok {
			if id, args, ok := strings.Cut(rest, "/cmdline:"); ok {
				if n, err := strconv.ParseUint(id, 10, 31); err == nil {
					pid, text = int(n), args
				}
			}
		}
		if pid == 0 {
			continue
		}
		if before, more := all[pid]; more {
			text = before + "\n" + text
		}
		all[pid], last = text, pid
	}
	for pid, raw := range all {
		command := strings.ReplaceAll(strings.TrimRight(raw, "\x00\n "), "\x00", " ")
		if command == "" {
			delete(all, pid)
			continue
		}
		all[pid] = command
	}
	return all
}

// readKins reads the lines of /proc/PID/stat. The name in brackets may hold
// anything but a line break.
func readKins(s section) map[int]kin {
	kins := map[int]kin{}
	for _, line := range s.lines() {
		id, _, _ := strings.Cut(line, " ")
		pid, err := strconv.Atoi(id)
		bracket := strings.LastIndex(line, ") ")
		if err != nil || pid <= 0 || bracket < 0 {
			continue
		}
		fields := strings.Fields(line[bracket+2:])
		if len(fields) < 20 {
			continue
		}
		parent, err := strconv.Atoi(fields[1]) // field 4 of the line
		start, err2 := strconv.ParseInt(fields[19], 10, 64)
		if err != nil || err2 != nil || start < 0 || start > 1<<40 {
			continue
		}
		kins[pid] = kin{parent, start}
	}
	return kins
}

// readBoot tells by our clock when the kernel's ticks began.
func readBoot(s section, ahead time.Duration) (time.Time, bool) {
	text, found := strings.CutPrefix(strings.TrimSpace(s.body), "btime ")
	if !s.ok() || !found {
		return time.Time{}, false
	}
	t, ok := unix(text)
	return t.Add(-ahead), ok && t.Unix() > 0
}

// looks tells which processes belong to a look, this one or another: its shell,
// everything that shell started, and the login it came by.
func looks(all map[int]string, kins map[int]kin, self, parent int) func(pid int, command string) bool {
	shells := map[int]bool{self: true}
	logins := map[int]bool{parent: true}
	for pid, command := range all {
		if command == lookArgs || command == ExportArgs || command == AcceptArgs {
			shells[pid] = true
			logins[kins[pid].parent] = true
		}
	}
	// The login's own parent is the half of it that keeps the privileges.
	for _, pid := range slices.Collect(maps.Keys(logins)) {
		logins[kins[pid].parent] = true
	}
	return func(pid int, command string) bool {
		if pid == 1 {
			return false // where it is what the look came by, it is still the box's first process
		}
		if pid == parent || logins[pid] && strings.HasPrefix(command, "sshd") && strings.Contains(command, ": ") &&
			!strings.Contains(command, "[listener]") {
			return true
		}
		// A chain longer than this is a list gone wrong.
		for range 64 {
			if shells[pid] {
				return true
			}
			k, known := kins[pid]
			if !known {
				return false
			}
			pid = k.parent
		}
		return false
	}
}

// pair reads two process ids.
func pair(s section) (self, parent int, ok bool) {
	fields := strings.Fields(s.body)
	if !s.ok() || len(fields) != 2 {
		return 0, 0, false
	}
	self, err := strconv.Atoi(fields[0])
	parent, err2 := strconv.Atoi(fields[1])
	return self, parent, err == nil && err2 == nil && self > 0
}
