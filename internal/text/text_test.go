package text

import (
	"testing"
	"time"

	"curfew/fleet"
)

func renderer(t *testing.T, lang Language) *Renderer {
	t.Helper()
	r, err := New(lang, time.FixedZone("CST", 8*3600))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 3, 15, 0, 0, 0, time.UTC) // 23:00 in the reader's zone
	for name, c := range map[string]struct {
		at     time.Time
		en, zh string
	}{
		"today":                                  {now.Add(-2 * time.Hour), "21:00", "21:00"},
		"with seconds":                           {now.Add(5 * time.Second), "23:00:05", "23:00:05"},
		"the reader's yesterday":                 {now.Add(-24 * time.Hour), "2 Nov 23:00", "11月2日 23:00"},
		"the reader's tomorrow, same day in UTC": {now.Add(2 * time.Hour), "4 Nov 01:00", "11月4日 01:00"},
		"given in another zone":                  {now.In(time.FixedZone("", -5*3600)), "23:00", "23:00"},
		"this day of another year":               {now.AddDate(1, 0, 0), "3 Nov 2027 23:00", "2027年11月3日 23:00"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := renderer(t, English).Moment(c.at, now); got != c.en {
				t.Errorf("in English %q, want %q", got, c.en)
			}
			if got := renderer(t, Chinese).Moment(c.at, now); got != c.zh {
				t.Errorf("in Chinese %q, want %q", got, c.zh)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		d      time.Duration
		en, zh string
	}{
		{0, "0s", "0秒"},
		{499 * time.Millisecond, "0s", "0秒"},
		{500 * time.Millisecond, "1s", "1秒"},
		{59 * time.Second, "59s", "59秒"},
		{60 * time.Second, "1m", "1分钟"},
		{90 * time.Second, "1m 30s", "1分钟30秒"},
		{time.Hour, "1h", "1小时"},
		{time.Hour + 5*time.Minute, "1h 5m", "1小时5分钟"},
		{time.Hour + 5*time.Minute + 7*time.Second, "1h 5m", "1小时5分钟"},
		{time.Hour + 7*time.Second, "1h", "1小时"},
		{day - 100*time.Millisecond, "1d", "1天"},
		{15*day + 3*time.Hour, "15d 3h", "15天3小时"},
		{400 * day, "400d", "400天"},
		{-90 * time.Second, "1m 30s", "1分钟30秒"},
	} {
		if got := renderer(t, English).Span(c.d); got != c.en {
			t.Errorf("%s in English is %q, want %q", c.d, got, c.en)
		}
		if got := renderer(t, Chinese).Span(c.d); got != c.zh {
			t.Errorf("%s in Chinese is %q, want %q", c.d, got, c.zh)
		}
	}
}

func TestReasonWithoutATextIsShownWithItsValues(t *testing.T) {
	now := time.Date(2026, 11, 3, 15, 0, 0, 0, time.UTC)
	got := renderer(t, English).Reason(fleet.Because("test.unknown", fleet.Values{
		"text":   fleet.Text("pro-1"),
		"number": fleet.Number(2.5),
		"moment": fleet.Moment(now),
		"span":   fleet.Span(90 * time.Minute),
		"amount": fleet.Amount(fleet.CNY(1_234_567)),
		"nested": fleet.Nested(fleet.Because("action.stop", nil)),
	}), now)
	const want = "test.unknown amount=1.23 CNY moment=23:00 nested=stop number=2.5 span=1h 30m text=pro-1"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReasonInBothLanguages(t *testing.T) {
	stop := fleet.Because("action.stop", nil)
	for lang, want := range map[Language]string{English: "stop", Chinese: "关机"} {
		r := renderer(t, lang)
		if got := r.Reason(stop, time.Time{}); got != want {
			t.Errorf("%s: got %q, want %q", r.Language(), got, want)
		}
		if got := r.Reason(fleet.Reason{}, time.Time{}); got != "" {
			t.Errorf("%s: no reason is shown as %q", r.Language(), got)
		}
	}
}
