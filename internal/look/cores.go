package look

import (
	"math"
	"strings"
	"time"
)

// readCores reads how many cores the box may use, and how long they have worked
// for it. It is for advice alone: what cannot be read is zero, and makes no look
// doubtful.
//
// A container sees the load of the machine it lies in (/proc/loadavg), while its
// cores may be a share of that machine's. So where a quota is set and how long the
// cores have worked cannot be read, no cores are told: there is nothing to hold
// against them.
//
// The quota is cpu.max and the use cpu.stat of control groups version 2, cpu.cfs_*
// and cpuacct.usage of version 1 (Documentation/admin-guide/cgroup-v2.rst and
// cgroup-v1/cpuacct.rst, Documentation/scheduler/sched-bwc.rst).
func readCores(s section) (cores float64, used time.Duration) {
	if !s.ok() {
		return 0, 0
	}
	quota := 0.0
	for _, line := range s.lines() {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "nproc":
			cores, _ = number(words[1])
		case len(words) == 3 && words[0] == "max":
			quota = share(words[1], words[2])
		case len(words) == 2 && words[0] == "usage_usec":
			used = spent(words[1], time.Microsecond)
		case len(words) == 2 && words[0] == "usage_nsec":
			used = spent(words[1], time.Nanosecond)
		}
	}
	switch {
	case quota > 0 && used == 0:
		return 0, 0
	case quota > 0 && (cores == 0 || quota < cores):
		cores = quota
	}
	if cores == 0 {
		return 0, 0
	}
	return cores, used
}

// share is how many cores a quota in each period amounts to; 0 where there is
// none, which is written as max or -1.
func share(quota, period string) float64 {
	q, ok := number(quota)
	p, good := number(period)
	if !ok || !good || p <= 0 {
		return 0
	}
	return q / p
}

func spent(s string, unit time.Duration) time.Duration {
	n, ok := number(s)
	if n *= float64(unit); !ok || n > math.MaxInt64/2 {
		return 0
	}
	return time.Duration(n)
}
