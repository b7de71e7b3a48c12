// Package text renders reasons for people, in English and Chinese. A reason is a
// code with values; each area of the program keeps its codes' texts in a file of
// its own here, and a test compares them with the codes found in the source.
package text

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"curfew/fleet"
)

// Language is a language people read.
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// entry is one code's text in each language: a text/template over the reason's
// values, each already formatted for the reader.
type entry struct{ en, zh string }

type entries map[fleet.Code]entry

// areas lists every file's texts.
func areas() []entries {
	return []entries{
		actionTexts(), signalTexts(), sshTexts(), localTexts(), probeTexts(), prometheusTexts(), policyTexts(), guardTexts(),
		executeTexts(), providerTexts(), notifyTexts(), digestTexts(), digestMoneyTexts(), adviceTexts(), resourceTexts(), appTexts(), doctorTexts(), setupTexts(), execTexts(), exportTexts(), dataTexts(), estimateTexts(), keptEstimateTexts(), costTexts(), moneyTexts(), webTexts(), acceptTexts(), pressTexts(), answerTexts(), offerTexts(),
	}
}

// Renderer renders reasons in one language and one time zone.
type Renderer struct {
	lang      Language
	zone      *time.Location
	templates map[fleet.Code]*template.Template
}

// New compiles every text of one language. An error names a text that is not a
// template, or a code given twice.
func New(lang Language, zone *time.Location) (*Renderer, error) {
	r := &Renderer{lang: lang, zone: zone, templates: map[fleet.Code]*template.Template{}}
	for _, area := range areas() {
		for code, e := range area {
			if _, twice := r.templates[code]; twice {
				return nil, fmt.Errorf("reason %s has two texts", code)
			}
			t, err := template.New(string(code)).Option("missingkey=zero").Parse(r.pick(e))
			if err != nil {
				return nil, fmt.Errorf("text of reason %s: %w", code, err)
			}
			r.templates[code] = t
		}
	}
	return r, nil
}

func (r *Renderer) pick(e entry) string {
	if r.lang == Chinese {
		return e.zh
	}
	return e.en
}

// Language gives the renderer's language.
func (r *Renderer) Language() Language { return r.lang }

// In gives the moment in the reader's zone.
func (r *Renderer) In(t time.Time) time.Time { return t.In(r.zone) }

// Reason gives the reason in words. now decides whether a moment is shown with
// its date. A code without a text is shown as it is, with its values.
func (r *Renderer) Reason(reason fleet.Reason, now time.Time) string {
	if reason.IsZero() {
		return ""
	}
	values := make(map[string]string, len(reason.Values))
	for name, v := range reason.Values {
		values[name] = r.value(v, now)
	}
	t, ok := r.templates[reason.Code]
	if !ok {
		return r.bare(reason.Code, values)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return r.bare(reason.Code, values)
	}
	return b.String()
}

func (r *Renderer) bare(code fleet.Code, values map[string]string) string {
	var b strings.Builder
	b.WriteString(string(code))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		b.WriteString(" " + name + "=" + values[name])
	}
	return b.String()
}

func (r *Renderer) value(v fleet.Value, now time.Time) string {
	switch x := v.Any().(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case time.Time:
		return r.Moment(x, now)
	case time.Duration:
		return r.Span(x)
	case fleet.Money:
		return x.Round().String()
	case fleet.Reason:
		return r.Reason(x, now)
	}
	return ""
}

// Moment gives a time of day in the reader's zone, with seconds only where it
// has some, with the date unless it is today, and with the year unless it is
// this one.
func (r *Renderer) Moment(t, now time.Time) string {
	t, now = t.In(r.zone), now.In(r.zone)
	clock := t.Format("15:04")
	if t.Second() != 0 {
		clock = t.Format("15:04:05")
	}
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return clock
	}
	year := t.Year() != now.Year()
	switch {
	case r.lang == Chinese && year:
		return t.Format("2006年1月2日 ") + clock
	case r.lang == Chinese:
		return t.Format("1月2日 ") + clock
	case year:
		return t.Format("2 Jan 2006 ") + clock
	}
	return t.Format("2 Jan ") + clock
}

// Span gives a duration in at most two units, such as 1h 5m.
func (r *Renderer) Span(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	d = d.Round(time.Second)
	units := []struct {
		size   time.Duration
		en, zh string
	}{{24 * time.Hour, "d", "天"}, {time.Hour, "h", "小时"}, {time.Minute, "m", "分钟"}, {time.Second, "s", "秒"}}
	var parts []string
	for _, u := range units {
		n := d / u.size
		d -= n * u.size
		if n == 0 && len(parts) == 0 {
			continue
		}
		if n > 0 {
			name := u.en
			if r.lang == Chinese {
				name = u.zh
			}
			parts = append(parts, strconv.FormatInt(int64(n), 10)+name)
		}
		if len(parts) == 2 || n == 0 {
			break
		}
	}
	if len(parts) == 0 {
		if r.lang == Chinese {
			return "0秒"
		}
		return "0s"
	}
	sep := " "
	if r.lang == Chinese {
		sep = ""
	}
	return strings.Join(parts, sep)
}
