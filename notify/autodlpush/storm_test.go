package autodlpush_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
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
		double := &service{t: t}
		c := open(t, autodlpush.Kind().DefaultURL, &http.Client{Transport: double})
		// What is critical may use what is kept back.
		s := notifytest.NewStorm(t, autodlpush.Kind(), c, 120, fleet.Critical, fleet.Warning, fleet.Warning)
		s.Pass()
		s.Once(double.said, 0)
	})
}
