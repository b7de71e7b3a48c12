package feishu_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
	"curfew/notify/feishu"
	"curfew/notify/feishu/feishutest"
	"curfew/notify/notifytest"
)

// storm sends so many notices, in simulated time, until all are told or given up. It
// gives the bot and how long it took.
func storm(t *testing.T, notices int, answers ...feishutest.Answer) (*feishutest.Bot, time.Duration) {
	t.Helper()
	bot := feishutest.New(token, secret, time.Now, t.Errorf)
	bot.Answer(answers...)
	o := options(feishu.Kind().DefaultURL, &http.Client{Transport: bot})
	o.Now = time.Now
	s := notifytest.NewStorm(t, feishu.Kind(), open(t, o), notices, fleet.Critical)
	took := s.Pass()
	var said []string
	for _, m := range bot.Messages() {
		said = append(said, m.Text)
	}
	s.Once(said, 0)
	return bot, took
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
