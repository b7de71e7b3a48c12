package accept

import (
	"bytes"
	"strings"

	"curfew/fleet"
	"curfew/internal/boxsh"
)

// Why something could not be read.
const (
	WhyMissing  fleet.Code = "accept.why-missing"
	WhySlow     fleet.Code = "accept.why-slow"
	WhyStatus   fleet.Code = "accept.why-status"
	WhyGarbled  fleet.Code = "accept.why-garbled"
	WhyTime     fleet.Code = "accept.why-time"
	WhyLost     fleet.Code = "accept.why-lost"
	WhyEnded    fleet.Code = "accept.why-ended"
	WhyNoPath   fleet.Code = "accept.why-no-path"
	WhyFull     fleet.Code = "accept.why-full"
	WhyNoPython fleet.Code = "accept.why-no-python"
	WhyNoTorch  fleet.Code = "accept.why-no-torch"
	WhyCPUTorch fleet.Code = "accept.why-cpu-torch"
	WhyBusy     fleet.Code = "accept.why-busy"
	WhyNoCards  fleet.Code = "accept.why-no-cards"
	WhyOneCard  fleet.Code = "accept.why-one-card"
	WhySmall    fleet.Code = "accept.why-small"
)

// section is one part of an answer. Status is what ended it: an exit status or a word.
// It is whole only if its end arrived.
type section struct {
	body, status string
	whole        bool
}

// answer holds the sections by name, and why some may be missing.
type answer struct {
	parts map[string]section
	cut   fleet.Reason
}

// split takes an answer apart at its marks. What stands before the first one, such as a
// greeting, is nobody's.
func split(out []byte, mark string, cut fleet.Reason) answer {
	a := answer{parts: map[string]section{}, cut: cut}
	begin, end := []byte("\n"+mark+" > "), "\n"+mark+" < "
	for {
		_, rest, found := bytes.Cut(out, begin)
		if !found {
			return a
		}
		name, body, named := bytes.Cut(rest, []byte("\n"))
		if !named {
			return a
		}
		s := section{body: string(body)}
		out = nil
		if next := bytes.Index(body, begin); next >= 0 {
			s.body, out = string(body[:next]), body[next:]
		}
		if text, tail, ended := strings.Cut(s.body, end); ended {
			status, _, whole := strings.Cut(tail, "\n")
			s = section{body: text, status: status, whole: whole}
		}
		a.parts[string(name)] = s
	}
}

// get gives a section that program was asked for, or why it is of no use.
func (a answer) get(name, program string) (section, fleet.Reason) {
	s, there := a.parts[name]
	switch {
	case (!there || !s.whole) && !a.cut.IsZero():
		return s, a.cut
	case !there || !s.whole:
		return s, fleet.Because(WhyEnded, nil)
	}
	switch s.status {
	case "0":
		return s, fleet.Reason{}
	case "missing":
		return s, missing(program)
	case "137", "138", "124":
		return s, fleet.Because(WhySlow, fleet.Values{"program": fleet.Text(program)})
	case "nopython":
		return s, fleet.Because(WhyNoPython, nil)
	case "notorch":
		return s, fleet.Because(WhyNoTorch, nil)
	case "nocards":
		return s, fleet.Because(WhyNoCards, nil)
	case "single":
		return s, fleet.Because(WhyOneCard, nil)
	case "busy":
		return s, fleet.Because(WhyBusy, nil)
	case "full":
		return s, fleet.Because(WhyFull, nil)
	case "nodd":
		return s, missing("dd")
	case "nodf":
		return s, garbled("df", s.body)
	}
	return s, fleet.Because(WhyStatus, fleet.Values{
		"program": fleet.Text(program), "status": fleet.Text(boxsh.Short(s.status)), "said": fleet.Text(lastWords(s.body)),
	})
}

func missing(program string) fleet.Reason {
	return fleet.Because(WhyMissing, fleet.Values{"program": fleet.Text(program)})
}

func garbled(program, body string) fleet.Reason {
	return fleet.Because(WhyGarbled, fleet.Values{"program": fleet.Text(program), "said": fleet.Text(lastWords(body))})
}

// lastWords gives the last line that is not empty, fit for a message.
func lastWords(body string) string {
	var last string
	for line := range strings.Lines(body) {
		if line = boxsh.Printable(line); line != "" {
			last = line
		}
	}
	return boxsh.Short(last)
}
