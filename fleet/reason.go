package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Code names a reason. It is stable: journals keep it for years and every
// language has a text for it.
type Code string

// Reason is why something was decided, as a code with values. It is rendered
// late, in the language of whoever reads it.
type Reason struct {
	Code   Code   `json:"code,omitempty"`
	Values Values `json:"values,omitempty"`
}

// Values are the facts of a reason by name.
type Values map[string]Value

// Because makes a reason of a code and its values.
func Because(code Code, values Values) Reason { return Reason{Code: code, Values: values} }

// IsZero reports whether no reason was given.
func (r Reason) IsZero() bool { return r.Code == "" }

// Value is one fact of a reason: exactly one of a text, a number, a moment, a
// duration, an amount or another reason.
type Value struct{ v any }

// Text is a name or words that need no translation.
func Text(s string) Value { return Value{s} }

// Number is a count or a measured figure. One that is none (NaN, an infinity) is
// kept in words, so that every reason can be journaled.
func Number(n float64) Value {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return Text(strconv.FormatFloat(n, 'g', -1, 64))
	}
	return Value{n}
}

// Moment is a point in time; it is shown in the reader's zone.
func Moment(t time.Time) Value { return Value{t.UTC().Round(0)} }

// Span is a length of time, in milliseconds.
func Span(d time.Duration) Value { return Value{d.Round(time.Millisecond)} }

// Amount is money.
func Amount(m Money) Value { return Value{m} }

// Nested is a reason inside a reason.
func Nested(r Reason) Value { return Value{r} }

// Any gives what is held: string, float64, time.Time, time.Duration, [Money] or
// [Reason].
func (v Value) Any() any { return v.v }

type valueJSON struct {
	Text   *string    `json:"text,omitempty"`
	Number *float64   `json:"number,omitempty"`
	Moment *time.Time `json:"moment,omitempty"`
	SpanMS *int64     `json:"span_ms,omitempty"`
	Amount *Money     `json:"amount,omitempty"`
	Reason *Reason    `json:"reason,omitempty"`
}

// MarshalJSON writes the value with its type, so that it is read back the same.
func (v Value) MarshalJSON() ([]byte, error) {
	var j valueJSON
	switch x := v.v.(type) {
	case string:
		j.Text = &x
	case float64:
		j.Number = &x
	case time.Time:
		j.Moment = &x
	case time.Duration:
		ms := x.Milliseconds()
		j.SpanMS = &ms
	case Money:
		j.Amount = &x
	case Reason:
		j.Reason = &x
	default:
		return nil, fmt.Errorf("reason value holds a %T", v.v)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(data []byte) error {
	var j valueJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	switch {
	case j.Text != nil:
		v.v = *j.Text
	case j.Number != nil:
		v.v = *j.Number
	case j.Moment != nil:
		v.v = *j.Moment
	case j.SpanMS != nil:
		v.v = time.Duration(*j.SpanMS) * time.Millisecond
	case j.Amount != nil:
		v.v = *j.Amount
	case j.Reason != nil:
		v.v = *j.Reason
	default:
		return fmt.Errorf("reason value %s holds nothing known", data)
	}
	return nil
}
