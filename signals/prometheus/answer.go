package prometheus

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"curfew/fleet"
)

// What an answer says.
const (
	ReasonBusy     fleet.Code = "prometheus.busy"
	ReasonIdle     fleet.Code = "prometheus.idle"
	ReasonEmpty    fleet.Code = "prometheus.empty"   // no value at all
	ReasonSeveral  fleet.Code = "prometheus.several" // more than one for an instance
	ReasonNoNumber fleet.Code = "prometheus.not-a-number"
	ReasonForm     fleet.Code = "prometheus.form" // a range, a text or a histogram
	ReasonOld      fleet.Code = "prometheus.old"
	ReasonError    fleet.Code = "prometheus.error"  // Prometheus tells one
	ReasonWarned   fleet.Code = "prometheus.warned" // the answer may not be whole
	ReasonGarbled  fleet.Code = "prometheus.garbled"
)

// saidLimit is how much of an answer that makes no sense is looked at.
const saidLimit = 4 << 10

// sample is one value of an answer.
type sample struct {
	labels map[string]string
	at     time.Time
	value  float64
}

// answer is what Prometheus answers a query with.
type answer struct {
	Status   string   `json:"status"`
	Error    string   `json:"error"`
	Warnings []string `json:"warnings"`
	Data     struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// read reads an answer. Warnings make it none: they tell of a store that could not
// be read, whose instances are missing or look at rest.
func (s *Source) read(body []byte) ([]sample, fleet.Reason) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, s.garbled(body)
	}
	switch {
	case a.Status == "error":
		return nil, fleet.Because(ReasonError, fleet.Values{"said": fleet.Text(s.short(a.Error))})
	case a.Status != "success":
		return nil, s.garbled(body)
	case len(a.Warnings) > 0:
		return nil, fleet.Because(ReasonWarned, fleet.Values{"said": fleet.Text(s.short(a.Warnings[0]))})
	}
	switch a.Data.ResultType {
	case "scalar":
		var p point
		if json.Unmarshal(a.Data.Result, &p) != nil {
			return nil, s.garbled(body)
		}
		return []sample{{at: p.at, value: p.value}}, fleet.Reason{}
	case "vector":
		return s.vector(body, a.Data.Result)
	case "matrix", "string":
		return nil, form(a.Data.ResultType)
	}
	return nil, s.garbled(body)
}

func (s *Source) vector(body, result []byte) ([]sample, fleet.Reason) {
	var values []struct {
		Metric    map[string]string `json:"metric"`
		Value     *point            `json:"value"`
		Histogram json.RawMessage   `json:"histogram"`
	}
	if json.Unmarshal(result, &values) != nil || values == nil {
		return nil, s.garbled(body)
	}
	samples := make([]sample, 0, len(values))
	for _, v := range values {
		switch {
		case v.Histogram != nil:
			return nil, form("histogram")
		case v.Value == nil:
			return nil, s.garbled(body)
		}
		samples = append(samples, sample{v.Metric, v.Value.at, v.Value.value})
	}
	return samples, fleet.Reason{}
}

// point is a moment in seconds, and a value as text: [1796082518.112, "5"].
type point struct {
	at    time.Time
	value float64
}

// UnmarshalJSON reads a point and nothing else.
func (p *point) UnmarshalJSON(text []byte) error {
	var pair []json.RawMessage
	var seconds *float64
	var value *string
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 || json.Unmarshal(pair[0], &seconds) != nil || json.Unmarshal(pair[1], &value) != nil ||
		seconds == nil || value == nil || math.Abs(*seconds) > math.MaxInt32*2 {
		return errors.New("not a moment and a value")
	}
	v, err := strconv.ParseFloat(*value, 64)
	if err != nil {
		return err
	}
	p.at, p.value = time.UnixMilli(int64(*seconds*1000)), v
	return nil
}

// judge judges an instance by its values, of which there must be one; none says what
// it is where there is none.
func (s *Source) judge(samples []sample, none fleet.Reason) (fleet.Activity, fleet.Reason) {
	switch len(samples) {
	case 0:
		return fleet.Unknown, none
	case 1:
	default:
		return fleet.Unknown, fleet.Because(ReasonSeveral, fleet.Values{"count": fleet.Number(float64(len(samples)))})
	}
	p := samples[0]
	// A query asks for now: an answer of another time comes out of a store of old
	// answers, or one of the clocks is wrong.
	if s.o.Now().Sub(p.at).Abs() > s.freshFor() {
		return fleet.Unknown, fleet.Because(ReasonOld, fleet.Values{"at": fleet.Moment(p.at)})
	}
	if math.IsNaN(p.value) || math.IsInf(p.value, 0) {
		return fleet.Unknown, fleet.Because(ReasonNoNumber, fleet.Values{"value": fleet.Number(p.value)})
	}
	values := fleet.Values{
		"signal": fleet.Text(s.o.Name), "value": fleet.Text(figure(p.value)), "above": fleet.Text(figure(s.o.BusyAbove)),
	}
	if p.value > s.o.BusyAbove {
		return fleet.Busy, fleet.Because(ReasonBusy, values)
	}
	return fleet.Idle, fleet.Because(ReasonIdle, values)
}

// figure gives a number as people read it: whole where that is short.
func figure(v float64) string {
	if text := strconv.FormatFloat(v, 'f', -1, 64); len(text) <= 12 {
		return text
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func form(kind string) fleet.Reason {
	return fleet.Because(ReasonForm, fleet.Values{"form": fleet.Text(kind)})
}

func (s *Source) garbled(body []byte) fleet.Reason {
	return fleet.Because(ReasonGarbled, fleet.Values{"said": fleet.Text(s.short(string(body[:min(len(body), saidLimit)])))})
}
