package feishu_test

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
	"curfew/notify/feishu"
	"curfew/notify/feishu/feishutest"
	"curfew/notify/notifytest"
)

// storm puts so many notices into an outbox and sends them, in simulated time, until
// all are told or given up. It gives the bot and how long it took.
func storm(t *testing.T, notices int, answers ...feishutest.Answer) (*feishutest.Bot, time.Duration) {
	t.Helper()
	r, err := text.New(text.Chinese, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	bot, outbox := feishutest.New(token, secret, time.Now, t.Errorf), notifytest.NewOutbox(t)
	bot.Answer(answers...)
	o := options(feishu.Kind().DefaultURL, &http.Client{Transport: bot})
	o.Now = time.Now
	sender := notify.NewSender(notify.SenderOptions{
		Outbox: outbox, Now: time.Now, Logger: zerolog.New(io.Discard),
		Channels: map[string]notify.OpenChannel{"lab": {Channel: open(t, o), Kind: feishu.Kind(), Renderer: r}},
	})
	for i := range notices {
		outbox.Add(notify.Delivery{Channel: "lab", Notice: notify.Notice{
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
	for _, m := range bot.Messages() {
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
	return bot, time.Since(began)
}

// Here a message takes no time, so that five a second are soon met; none is lost, and
// the minute's limit is kept.
func TestAStormLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bot, took := storm(t, 400)
		if bot.Refused() == 0 {
			t.Error("five a second were never met, so this shows nothing")
		}
		if most := 30 * time.Minute; took > most {
			t.Errorf("the storm took %v; %v would do", took, most)
		}
	})
}

func TestFailuresOfThePlatformLoseNothing(t *testing.T) {
	for name, answers := range map[string][]feishutest.Answer{
		"a full hour":           {{Code: 11232, Msg: "frequency limited"}, {Status: 400, Code: 9499, Msg: "too many request"}},
		"a captive portal":      {{Raw: "<html>log in</html>"}, {Raw: "<html>log in</html>"}},
		"a gateway that is out": {{Status: 502, Raw: "bad gateway"}, {Status: 503, Raw: "no"}, {Status: 500}},
		"a card it refuses":     {{Code: 200621, Msg: "parse card json err"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if bot, _ := storm(t, 4, answers...); bot.Refused() != len(answers) {
					t.Errorf("%d requests were refused, want %d: the bot was not left in peace", bot.Refused(), len(answers))
				}
			})
		})
	}
}
