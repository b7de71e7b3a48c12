package autodlpush_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/autodlpush"
	"curfew/notify/notifytest"
)

// service counts as AutoDL does: 5 messages a minute and 50 a day, which begins at
// midnight in Beijing.
type service struct {
	t    *testing.T
	at   []time.Time
	said []string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var p payload
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = notifytest.Strict(body, &p)
	}
	if err == nil {
		err = p.check()
	}
	if err != nil {
		s.t.Error(err)
	}
	now, day := time.Now(), func(t time.Time) string { return t.In(time.FixedZone("Beijing", 8*3600)).Format(time.DateOnly) }
	minute, today := 0, 0
	for _, at := range s.at {
		if now.Sub(at) < time.Minute {
			minute++
		}
		if day(at) == day(now) {
			today++
		}
	}
	if minute >= 5 || today >= 50 {
		s.t.Errorf("%d messages in a minute, %d today", minute+1, today+1)
	}
	s.at, s.said = append(s.at, now), append(s.said, p.Content)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"code":"Success"}`)), Request: r}, nil
}

func TestAStormArrivesOnceAndNeverOverTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notices = 120
		double, outbox := &service{t: t}, notifytest.NewOutbox(t)
		words, err := text.New(text.Chinese, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		for i := range notices {
			severity := fleet.Warning
			if i%3 == 0 {
				severity = fleet.Critical // may use what is kept back
			}
			outbox.Add(notify.Delivery{Channel: "me", Notice: notify.Notice{
				Event: notify.EventFinding, Severity: severity, Category: fleet.CategoryHealth,
				Reason: fleet.Because("storm", fleet.Values{"n": fleet.Text(fmt.Sprintf("(%d)", i))}),
			}})
		}
		sender := notify.NewSender(notify.SenderOptions{
			Outbox: outbox, Now: time.Now, Logger: zerolog.New(io.Discard),
			Channels: map[string]notify.OpenChannel{"me": {
				Channel: open(t, autodlpush.Kind().DefaultURL, &http.Client{Transport: double}), Kind: autodlpush.Kind(), Renderer: words,
			}},
		})
		for outbox.Left() > 0 {
			next, err := sender.Flush(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !next.IsZero() {
				time.Sleep(time.Until(next))
			}
		}
		arrived := map[string]bool{}
		number := regexp.MustCompile(`\(\d+\)`)
		for _, said := range double.said {
			arrived[number.FindString(said)] = true
		}
		if len(arrived) != notices || len(double.said) != notices {
			t.Errorf("%d messages, %d different ones; want %d", len(double.said), len(arrived), notices)
		}
	})
}
