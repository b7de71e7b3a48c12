package dingtalk_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
	"curfew/notify/dingtalk"
	"curfew/notify/dingtalk/dingtalktest"
	"curfew/notify/notifytest"
)

// storm sends so many notices, in simulated time, until all are told or given up. It
// gives the robot and how long it took.
func storm(t *testing.T, notices int, answers ...dingtalktest.Answer) (*dingtalktest.Robot, time.Duration) {
	t.Helper()
	robot := dingtalktest.New(token, secret, time.Now, t.Errorf)
	robot.Answer(answers...)
	o := options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot})
	o.Now = time.Now
	s := notifytest.NewStorm(t, dingtalk.Kind(), open(t, o), notices, fleet.Critical)
	took := s.Pass()
	var said []string
	for _, m := range robot.Messages() {
		said = append(said, m.Text)
	}
	s.Once(said, 0)
	return robot, took
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
