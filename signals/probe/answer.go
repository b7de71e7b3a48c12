package probe

import (
	"bytes"
	"encoding/json"
	"strings"

	"curfew/fleet"
)

// What an answer says.
const (
	ReasonBusy    fleet.Code = "probe.busy"
	ReasonIdle    fleet.Code = "probe.idle"
	ReasonEmpty   fleet.Code = "probe.empty"
	ReasonGarbled fleet.Code = "probe.garbled" // neither busy nor idle
	ReasonBoth    fleet.Code = "probe.both"    // one line says busy, another idle
	ReasonLong    fleet.Code = "probe.long"
)

// answerLimit is how many bytes of an answer are read; more is none.
const answerLimit = 64 << 10

func tooLong() fleet.Reason {
	return fleet.Because(ReasonLong, fleet.Values{"limit": fleet.Number(answerLimit >> 10)})
}

// read reads an answer: JSON with an activity, or text whose first word is busy or
// idle, and the rest of its line why.
func (s *Source) read(body []byte, isJSON bool) (fleet.Activity, fleet.Reason) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if len(body) == 0 {
		return fleet.Unknown, fleet.Because(ReasonEmpty, nil)
	}
	garbled := fleet.Because(ReasonGarbled, fleet.Values{"said": fleet.Text(s.short(string(body)))})
	if isJSON || body[0] == '{' {
		var said struct {
			Activity string `json:"activity"`
			Why      string `json:"why"`
		}
		if err := json.Unmarshal(body, &said); err != nil || meaning(said.Activity) == fleet.Unknown {
			return fleet.Unknown, garbled
		}
		return s.says(meaning(said.Activity), said.Why)
	}
	activity, why := line(string(body))
	if activity == fleet.Unknown {
		return fleet.Unknown, garbled
	}
	for other := range strings.Lines(string(body)) {
		if a, _ := line(other); a != fleet.Unknown && a != activity {
			return fleet.Unknown, fleet.Because(ReasonBoth, nil)
		}
	}
	return s.says(activity, why)
}

// says gives the activity that was told, and why, in the probe's name.
func (s *Source) says(activity fleet.Activity, why string) (fleet.Activity, fleet.Reason) {
	code := ReasonIdle
	if activity == fleet.Busy {
		code = ReasonBusy
	}
	return activity, fleet.Because(code, fleet.Values{"probe": fleet.Text(s.o.Name), "why": fleet.Text(s.short(why))})
}

// line reads the first line of a text.
func line(text string) (activity fleet.Activity, why string) {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	n := strings.IndexFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
	if n < 0 {
		return meaning(text), ""
	}
	return meaning(text[:n]), strings.TrimSpace(text[n:])
}

// meaning reads the word, in any case; any other is Unknown.
func meaning(word string) fleet.Activity {
	for _, a := range []fleet.Activity{fleet.Busy, fleet.Idle} {
		if strings.EqualFold(word, a.String()) {
			return a
		}
	}
	return fleet.Unknown
}
