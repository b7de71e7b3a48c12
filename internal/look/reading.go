package look

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"curfew/fleet"
	"curfew/signals"
)

// question is what a look was asked, and all that is needed to read its answer.
type question struct {
	ask   signals.Ask
	cards int            // how many the platform says there are
	zone  *time.Location // in which a hold's time of day is meant; nil: the box's
	ahead time.Duration  // the box's clock minus ours
	cut   string         // why the answer is not complete; "" if it is
}

// read tells the facts an answer holds. It is pure, and it never gives a reading
// that is not there: what is missing is named in Unreadable.
func read(a answer, c clock, q question) fleet.Facts {
	f := fleet.Facts{Reached: true, Unreadable: map[string]string{}}
	fail := func(reading, why string) {
		if why != "" {
			f.Unreadable[reading] = why
		}
	}
	var why string
	f.Cards, why = readCards(a["cards"], q.cards, q.cut)
	fail("cards", why)
	f.Processes, why = readProcesses(a, q)
	fail("processes", why)
	f.ProcessesRead = why == "" && len(f.Processes) > 0
	f.Sessions, why = readSessions(a["sessions"], c.began, q.cut)
	fail("sessions", why)
	inside := seenInside{processes: f.Processes, kins: readKins(a["stat"]), now: c.began, ahead: q.ahead, cut: q.cut}
	kernels, why := readJupyter(a, inside)
	f.Sessions = append(f.Sessions, kernels...)
	fail("jupyter", why)
	f.Sessions = append(f.Sessions, readEditors(a["editors"], inside)...)
	f.BoxRuns, why = readRuns(a["runs"], c, q)
	fail("runs", why)
	f.HoldUntil, why = readHold(a["hold"], c, q)
	fail("hold", why)
	f.Load1, why = readLoad(a["load"], q.cut)
	fail("load", why)
	f.Cores, f.CPUTime = readCores(a["cores"])
	f.Files = readFiles(a, q)
	if len(f.Unreadable) == 0 {
		f.Unreadable = nil
	}
	return f
}

func readLoad(s section, cut string) (float64, string) {
	if why := s.failed(cut); why != "" {
		return 0, why
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s.body), " ")
	load, ok := number(first)
	if !ok {
		return 0, "unclear: " + Short(s.body)
	}
	return load, ""
}

// readFiles reads what was asked of files and logs. A path asked as both is
// answered as a log, which says more.
func readFiles(a answer, q question) map[string]fleet.FileFact {
	if len(q.ask.Files)+len(q.ask.Logs) == 0 {
		return nil
	}
	files := map[string]fleet.FileFact{}
	for n, path := range q.ask.Files {
		files[path] = readFile(a["file "+strconv.Itoa(n)], q, false)
	}
	for n, path := range q.ask.Logs {
		files[path] = readFile(a["log "+strconv.Itoa(n)], q, true)
	}
	return files
}

// readFile reads one line of stat, and a log's end after it.
func readFile(s section, q question, log bool) fleet.FileFact {
	if !s.whole {
		return fleet.FileFact{Err: s.failed(q.cut)}
	}
	line, tail, _ := strings.Cut(s.body, "\n")
	if s.status != "0" {
		if strings.HasSuffix(line, "No such file or directory") || strings.HasSuffix(line, "Not a directory") {
			return fleet.FileFact{}
		}
		if why := s.failed(q.cut); strings.TrimSpace(line) == "" || why == "timed out" {
			return fleet.FileFact{Err: why}
		}
		return fleet.FileFact{Err: Short(line)}
	}
	when, bytes, _ := strings.Cut(line, " ")
	at, ok := unix(when)
	size, err := strconv.ParseInt(bytes, 10, 64)
	if !ok || err != nil || size < 0 {
		return fleet.FileFact{Err: "unclear: " + Short(line)}
	}
	f := fleet.FileFact{Exists: true, ModTime: at.Add(-q.ahead), Size: size}
	if !log {
		return f
	}
	if int64(len(tail)) != min(size, tailBytes) {
		f.Err = "its last bytes could not be read"
		return f
	}
	f.Tail = tail
	return f
}

// number reads a plain decimal number; NaN and infinities are none.
func number(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// Short makes something foreign fit for a message: its first line, printable,
// not long.
func Short(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return -1
	}, line)
	if runes := []rune(line); len(runes) > 120 {
		line = string(runes[:120]) + "…"
	}
	return line
}
