package dingtalk_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/dingtalk"
	"curfew/notify/dingtalk/dingtalktest"
	"curfew/notify/notifytest"
)

// storm puts so many notices into an outbox and sends them, in simulated time, until
// all are told or given up. It gives the robot and how long it took.
func storm(t *testing.T, notices int, answers ...dingtalktest.Answer) (*dingtalktest.Robot, time.Duration) {
	t.Helper()
	r, err := text.New(text.Chinese, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	robot, outbox := dingtalktest.New(token, secret, time.Now, t.Errorf), notifytest.NewOutbox(t)
	robot.Answer(answers...)
	o := options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot})
	o.Now = time.Now
	sender := notify.NewSender(notify.SenderOptions{
		Outbox: outbox, Now: time.Now, Logger: zerolog.New(io.Discard),
		Channels: map[string]notify.OpenChannel{"ding": {Channel: open(t, o), Kind: dingtalk.Kind(), Renderer: r}},
	})
	for i := range notices {
		outbox.Add(notify.Delivery{Channel: "ding", Notice: notify.Notice{
			Event: notify.EventFinding, Severity: fleet.Critical, Category: fleet.CategoryHealth,
			Reason: fleet.Because("storm", fleet.Values{"n": fleet.Text(fmt.Sprintf("(%d)", i))}),
		}})
	}
	began := time.Now()
	for outbox.Left() > 0 {
		next, err := sender.Flush(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if wait := time.Until(next); !next.IsZero() && wait > 0 {
			time.Sleep(wait)
		}
	}
	times := map[string]int{}
	for _, m := range robot.Messages() {
		times[regexp.MustCompile(`storm n=\((\d+)\)`).FindString(m.Text)]++
	}
	for n, k := range times {
		if k != 1 || n == "" {
			t.Errorf("%q arrived %d times", n, k)
		}
	}
	if len(times) != notices {
		t.Errorf("%d of %d notices arrived", len(times), notices)
	}
	return robot, time.Since(began)
}

func TestAStormStaysBelowTheMinuteAndTheMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		robot, took := storm(t, 200)
		if n := robot.Refused(); n != 0 {
			t.Errorf("%d messages were over the robot's limit", n)
		}
		if took < 48*time.Hour {
			t.Errorf("200 messages took %v: more than 3,000 a month", took)
		}
	})
}

func TestTenMinutesOfSilenceLoseNothing(t *testing.T) {
	for name, answers := range map[string][]dingtalktest.Answer{
		"too many by another daemon": {{Code: 130101, Msg: "send too fast"}},
		"led elsewhere after it":     {{Code: 410100}, {Status: 302}},
		"a busy platform":            {{Code: -1, Msg: "系统繁忙"}, {Code: -1}},
		"a captive portal":           {{Raw: "<html>log in</html>"}},
		"an unsafe link":             {{Code: 430101, Msg: "含有不安全的外链"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if robot, _ := storm(t, 20, answers...); robot.Refused() != len(answers) {
					t.Errorf("%d requests were refused, want %d: the robot was not left in peace", robot.Refused(), len(answers))
				}
			})
		})
	}
}
