package accept

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"curfew/fleet"
)

// read makes a report of an answer. cut is why the answer may not be whole. false: it is
// no answer to this examination.
func (e exam) read(out []byte, cut fleet.Reason) (Report, bool) {
	a := split(out, e.mark, cut)
	if len(a.parts) == 0 {
		return Report{}, false
	}
	r := Report{
		Cores: a.cores(), Memory: a.memory(), Shm: a.room("shm", "/dev/shm", 1), Free: a.room("free", e.t.Path, 3),
		Cards: a.cards(), CUDA: a.cuda(), Links: a.links(), Framework: a.framework(), AllReduce: a.allReduce(), Load: a.load(),
	}
	if !e.t.off(CheckDisk) {
		r.Disk = a.disk(e.t.Path)
	}
	if !e.t.off(CheckNetwork) && e.t.URL != "" {
		r.Network = a.network()
	}
	return r, true
}

// cores is how many may be used: those there are, or fewer by a control group's quota.
func (a answer) cores() Reading[float64] {
	s, why := a.get("cores", "nproc")
	if !why.IsZero() {
		return unknown[float64](why)
	}
	var n float64
	for line := range strings.Lines(s.body) {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[0] == "nproc":
			n = figure(f[1])
		case len(f) == 3 && f[0] == "max" && n > 0:
			if quota, period := figure(f[1]), figure(f[2]); quota > 0 && period > 0 {
				n = min(n, quota/period)
			}
		}
	}
	if n <= 0 {
		return unknown[float64](garbled("nproc", s.body))
	}
	return known(n)
}

// memory is what may be used: what there is, or less by a control group's limit.
func (a answer) memory() Reading[int64] {
	s, why := a.get("memory", "/proc/meminfo")
	if !why.IsZero() {
		return unknown[int64](why)
	}
	var n float64
	for line := range strings.Lines(s.body) {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "MemTotal:":
			n = figure(f[1]) * 1024
		case len(f) == 2 && f[0] == "max" && n > 0:
			if limit := figure(f[1]); limit > 0 {
				n = min(n, limit)
			}
		}
	}
	return bytesOf(n, "/proc/meminfo", s.body)
}

// bytesOf is a number of bytes, or unknown where that makes no sense.
func bytesOf(n float64, program, body string) Reading[int64] {
	if n <= 0 || n > math.MaxInt64/2 {
		return unknown[int64](garbled(program, body))
	}
	return known(int64(n))
}

// room reads a column of what df -Pk tells: 1 is the size, 3 what is free.
func (a answer) room(name, path string, column int) Reading[int64] {
	s, why := a.get(name, "df")
	if s.status == "missing" {
		return unknown[int64](noPath(path))
	}
	if !why.IsZero() {
		return unknown[int64](why)
	}
	// A path with blanks stands at the end of the line.
	for line := range strings.Lines(s.body) {
		f := strings.Fields(line)
		for n, v := range f {
			if strings.HasSuffix(v, "%") && n >= 4 && figure(f[n-3]) > 0 {
				of := f[n-4+column]
				if column == 3 && figure(of) == 0 && of == "0" {
					return known(int64(0))
				}
				return bytesOf(figure(of)*1024, "df", s.body)
			}
		}
	}
	return unknown[int64](garbled("df", s.body))
}

func noPath(path string) fleet.Reason {
	if path == "" {
		path = "~"
	}
	return fleet.Because(WhyNoPath, fleet.Values{"path": fleet.Text(path)})
}

// copied is the last line of dd: that of GNU ("67108864 bytes (67 MB, 64 MiB) copied,
// 0.04 s, 1.6 GB/s") and that of busybox ("67108864 bytes (64.0MB) copied, 0.04 seconds,
// 1.5GB/s").
func (a answer) disk(path string) Reading[float64] {
	s, why := a.get("disk", "dd")
	if s.status == "missing" {
		return unknown[float64](noPath(path))
	}
	all := regexp.MustCompile(`(?m)^([0-9]+) bytes .*copied, ([0-9.eE+-]+) s`).FindAllStringSubmatch(s.body, -1)
	if len(all) > 0 { // also of one that took too long, and was asked how far it came
		last := all[len(all)-1]
		if bytes, seconds := figure(last[1]), figure(last[2]); bytes > 0 && seconds > 0 {
			return known(bytes / seconds)
		}
	}
	if why.IsZero() {
		why = garbled("dd", s.body)
	}
	return unknown[float64](why)
}

// leastDownload is how many bytes a speed is told of.
const leastDownload = 1 << 20

// network reads what curl tells of a download that ended, or that took too long.
func (a answer) network() Reading[float64] {
	s, why := a.get("network", "curl")
	m := regexp.MustCompile(`(?m)^speed ([0-9]+) ([0-9]+) ([0-9.]+) ([0-9.]+)$`).FindStringSubmatch(s.body)
	const tooLong = "28" // curl's exit status for --max-time
	if m == nil || !why.IsZero() && s.status != tooLong {
		if why.IsZero() {
			why = garbled("curl", s.body)
		}
		return unknown[float64](why)
	}
	code, bytes, seconds := figure(m[1]), figure(m[2]), figure(m[4])-figure(m[3])
	switch {
	case code < 200 || code > 299:
		return unknown[float64](fleet.Because(WhyStatus, fleet.Values{
			"program": fleet.Text("HTTP"), "status": fleet.Text(m[1]), "said": fleet.Text(""),
		}))
	case s.status == tooLong && bytes > 0 && seconds > 0: // however little came in the whole time
		return known(bytes / seconds)
	case bytes < leastDownload || seconds <= 0:
		return unknown[float64](fleet.Because(WhySmall, fleet.Values{"size": fleet.Text(Size(bytes))}))
	}
	return known(bytes / seconds)
}

// figure reads a number of 0 or more; what is none is 0.
func figure(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0
	}
	return v
}
