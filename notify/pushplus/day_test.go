package pushplus_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/pushplus"
)

// A locked account is asked again on the next day, once, however much there is to
// tell and however urgent it is.
func TestAfterTooManyNothingIsSentBeforeTheNextDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beijing := time.FixedZone("Beijing", 8*60*60)
		began := time.Now().In(beijing)
		var at []time.Time
		locked := 2 // calls that are refused
		client := &http.Client{Transport: notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			at = append(at, time.Now().In(beijing))
			answer := `{"code":200}`
			if len(at) <= locked {
				answer = `{"code":900,"msg":"用户账号使用受限"}`
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
		})}
		outbox := notifytest.NewOutbox(t)
		words, err := text.New(text.Chinese, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		add := func(s fleet.Severity) {
			outbox.Add(notify.Delivery{Channel: "me", NextAt: time.Now(), Notice: notify.Notice{
				Event: notify.EventFinding, Severity: s, Category: fleet.CategoryMoney, Reason: fleet.Because("low", nil),
			}})
		}
		add(fleet.Warning)
		add(fleet.Critical)
		sender := notify.NewSender(notify.SenderOptions{
			Outbox: outbox, Now: time.Now, Logger: zerolog.New(io.Discard),
			Channels: map[string]notify.OpenChannel{"me": {
				Channel: open(t, pushplus.Kind().DefaultURL, client), Kind: pushplus.Kind(), Renderer: words,
			}},
		})
		for outbox.Left() > 0 {
			if _, err := sender.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if time.Since(began) < 2*time.Hour {
				add(fleet.Critical)
			}
			time.Sleep(10 * time.Minute) // oftener than asked for
		}
		if len(at) < locked+3 {
			t.Fatalf("%d calls", len(at))
		}
		for i := range locked {
			if at[i].Format(time.DateOnly) == at[i+1].Format(time.DateOnly) {
				t.Errorf("called again on the day of a lock: %v, %v", at[i], at[i+1])
			}
		}
	})
}
