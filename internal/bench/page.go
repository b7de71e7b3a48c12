package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// figure is one row of the page: a reading, and the limit that was aimed at.
type figure struct {
	says    string
	reading string  // benchmark and unit
	scale   float64 // from the benchmark's unit to the page's
	unit    string
	below   float64 // the aim; 0 for none
	worst   bool    // of the repetitions the worst counts, not the best
}

// figures are the rows of the page.
func figures() []figure {
	const (
		perMS = 1e-6
		small = "/instances=50/policies=10 "
		large = "/instances=10000/policies=10 "
		mid   = "/instances=1000/policies=10 "
		scale = "BenchmarkScale/instances="
	)
	return []figure{
		{says: "a pass over 10,000 instances × 10 policies", reading: "BenchmarkPass" + large + "ns/op", scale: perMS, unit: "ms", below: 100},
		{says: "a pass over 1,000 instances × 10 policies", reading: "BenchmarkPass" + mid + "ns/op", scale: perMS, unit: "ms"},
		{says: "deciding alone, 10,000 instances × 10 policies", reading: "BenchmarkThink" + large + "ns/op", scale: perMS, unit: "ms"},
		{says: "a pass over 100,000 instances, 200,000 snapshots × 10 policies, processor time", reading: scale + "100000 cpu-ms", scale: 1, unit: "ms", below: 1000},
		{says: "the one pass an hour that compares the wallets with the ledger", reading: scale + "100000 hourly-ms", scale: 1, unit: "ms"},
		{says: "the process's peak memory then", reading: scale + "100000 peak-MB", scale: 1, unit: "MB", below: 300, worst: true},
		{says: "the same over 10,000 and 20,000", reading: scale + "10000 cpu-ms", scale: 1, unit: "ms"},
		{says: "its peak memory", reading: scale + "10000 peak-MB", scale: 1, unit: "MB", worst: true},
		{says: "the same over 1,000 and 2,000", reading: scale + "1000 cpu-ms", scale: 1, unit: "ms"},
		{says: "its peak memory", reading: scale + "1000 peak-MB", scale: 1, unit: "MB", worst: true},
		{says: "start to first pass, empty state, inside the program", reading: "BenchmarkStartToFirstPass" + small + "ns/op", scale: perMS, unit: "ms"},
		{says: "start to first pass, empty state, from the shell", reading: "BenchmarkIdle" + small + "start-ms", scale: 1, unit: "ms", below: 300},
		{says: "start to first pass, state of an earlier run", reading: "BenchmarkIdle" + small + "restart-ms", scale: 1, unit: "ms", below: 300},
		{says: "resident memory, idle with 50 instances", reading: "BenchmarkIdle" + small + "rss-MB", scale: 1, unit: "MB", below: 40, worst: true},
		{says: "its peak since the start", reading: "BenchmarkIdle" + small + "peak-MB", scale: 1, unit: "MB", worst: true},
		{says: "of it not backed by the binary's file", reading: "BenchmarkIdle" + small + "anon-MB", scale: 1, unit: "MB", worst: true},
		{says: "processor time, idle with 50 instances", reading: "BenchmarkIdle" + small + "cpu-%", scale: 1, unit: "% of one core", below: 0.5, worst: true},
		{says: "processor time, 200 machines looked at over SSH", reading: "BenchmarkSSH/machines=200 cpu-%", scale: 1, unit: "% of one core", below: 5, worst: true},
		{says: "resident memory meanwhile", reading: "BenchmarkSSH/machines=200 rss-MB", scale: 1, unit: "MB", worst: true},
		{says: "the binary, static and stripped", reading: "BenchmarkIdle" + small + "binary-MB", scale: 1, unit: "MB"},
	}
}

// page writes the page.
func page(measured measurements, machine string, now time.Time) (string, error) {
	var b strings.Builder
	b.WriteString("<!-- Written by make bench. -->\n\n# Performance\n\n")
	fmt.Fprintf(&b, "Measured on %s: %s.\n\n| figure | aim | measured |\n| --- | --- | --- |\n", now.Format(time.DateOnly), machine)
	for _, f := range figures() {
		readings := measured[f.reading]
		if len(readings) == 0 {
			return "", fmt.Errorf("nothing was measured of %s", f.reading)
		}
		v := slices.Min(readings)
		if f.worst {
			v = slices.Max(readings)
		}
		v *= f.scale
		aim, got := "–", fmt.Sprintf("%.3g %s", v, f.unit)
		if f.below > 0 {
			aim = fmt.Sprintf("under %g %s", f.below, f.unit)
			if v >= f.below {
				got += " (missed)"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.says, aim, got)
	}
	b.WriteString(`
## How it is measured

` + "`make bench`" + ` runs the benchmarks and writes this page. Of a time the best of the
repetitions counts, since other work on the machine only adds to it; of memory
and of the share of a core the worst.

**A pass** asks every policy about every instance, asks the guard, and compares the
answers with the journal in SQLite. Each policy is about each instance and looks
for a process of its own, which makes 100,000 verdicts. Of a hundred instances
ninety train, one is announced for a stop and one is stopped; nothing has changed
since the pass before, so nothing is written.

**At scale** ten policies of mixed types are asked about so many instances and twice as
many snapshots on one core, in a process of its own that reads a state written by
another one. Its processor time counts, since the garbage it makes is paid for by it.
Of ten instances one runs and is looked into, of four hundred snapshots one is to be
deleted, ten at a time; nothing has changed since the pass before. The peak is that of the whole
process, from its start over the reading of the state and the looks to the last pass;
a list that a platform answers comes on top while it is read.

**The start** is from the command on the shell to the end of the first pass over 50
instances. With an empty state that includes making the tables and reading the
account's list; with the state of an earlier run the instances are known.

**Idle** is the daemon as it is shipped, with 50 instances that train all the time,
a list every minute and a look every 30 seconds, watched for a minute. The
instances are simulated. Most of the resident memory is the binary itself, which the
system may drop and read again.

**Over SSH** the daemon looks at 200 declared machines every 30 seconds and polls
them every minute, for two minutes after all were seen. They are ports of one real
OpenSSH server on the same machine, each shows a hundred processes and a card, and
two connections to each stay open. The server's own share is not counted.
`)
	return b.String(), nil
}
