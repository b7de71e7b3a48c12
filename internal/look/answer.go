package look

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// section is one part of an answer. Status is what ended it: mostly an exit
// status. It is whole only if its end arrived.
type section struct {
	body   string
	status string
	whole  bool
}

// answer holds the sections of a look by name. A section that never began is
// not whole.
type answer map[string]section

// split takes an answer apart at the marks made with nonce. What is printed
// before the first mark, such as a login's greeting, is nobody's.
func split(out []byte, nonce string) answer {
	begin, end := []byte("\n"+nonce+" > "), []byte("\n"+nonce+" < ")
	a := answer{}
	for {
		_, rest, found := bytes.Cut(out, begin)
		if !found {
			return a
		}
		name, rest, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			return a
		}
		s := section{body: string(rest)}
		if next := bytes.Index(rest, begin); next >= 0 {
			s.body, out = string(rest[:next]), rest[next:]
		} else {
			out = nil
		}
		if body, tail, ended := strings.Cut(s.body, string(end)); ended {
			status, _, whole := strings.Cut(tail, "\n")
			s = section{body: body, status: status, whole: whole}
		}
		if _, twice := a[string(name)]; twice {
			s.whole = false
		}
		a[string(name)] = s
	}
}

// ok reports whether the section arrived and ended well.
func (s section) ok() bool { return s.whole && s.status == "0" }

// failed says why a section is of no use; "" for one that is ok. cut is why the
// answer as a whole is not complete, "" if it is.
func (s section) failed(cut string) string {
	switch {
	case !s.whole && cut != "":
		return cut
	case !s.whole:
		return "missing from the answer"
	case s.status == "137" || s.status == "124":
		return "timed out"
	case s.status != "0":
		return "failed with status " + Short(s.status)
	}
	return ""
}

// lines gives the non-empty lines of a section.
func (s section) lines() []string {
	var lines []string
	for line := range strings.SplitSeq(s.body, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// clock is the box's clock as the answer tells it: at the begin and, where the
// look came to its end, at the end.
type clock struct {
	began, ended time.Time
	zone         *time.Location
}

// clock reads the box's clock; without it no time in the answer means anything.
func (a answer) clock() (clock, bool) {
	began, ok := stamp(a["clock"])
	if !ok {
		return clock{}, false
	}
	c := clock{began: began, zone: time.UTC}
	if ended, ok := stamp(a["end"]); ok && !ended.Before(began) {
		c.ended = ended
	}
	if z, err := time.Parse("-0700", strings.TrimSpace(a["zone"].body)); err == nil {
		_, offset := z.Zone()
		c.zone = time.FixedZone("", offset)
	}
	return c, true
}

// stamp reads the output of date +%s.%N; some dates know no %N and print it or
// nothing.
func stamp(s section) (time.Time, bool) {
	if !s.ok() {
		return time.Time{}, false
	}
	whole, fraction, _ := strings.Cut(strings.TrimSpace(s.body), ".")
	t, ok := unix(whole)
	if !ok {
		return time.Time{}, false
	}
	if n, err := strconv.ParseUint(fraction, 10, 32); err == nil && len(fraction) == 9 {
		t = t.Add(time.Duration(n))
	}
	return t, true
}

// unix reads seconds since 1970; what lies outside of living memory is refused.
func unix(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<36 {
		return time.Time{}, false
	}
	return time.Unix(n, 0).UTC(), true
}

// ahead is how far the box's clock is ahead of ours, if a look that took from
// began to ended by ours is answered by c. The answer was on its way as long as
// the look took us longer than the box.
func (c clock) ahead(began, ended time.Time) time.Duration {
	if c.ended.IsZero() {
		return c.began.Sub(began)
	}
	there := c.began.Add(c.ended.Sub(c.began) / 2)
	here := began.Add(ended.Sub(began) / 2)
	return there.Sub(here)
}
