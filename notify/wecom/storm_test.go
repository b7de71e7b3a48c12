package wecom_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/wecom"
	"curfew/notify/wecom/wecomtest"
)

func storm(t *testing.T, notices int, severity fleet.Severity) (*wecomtest.Robot, *notifytest.Storm) {
	t.Helper()
	robot := wecomtest.New(key, time.Now, t.Errorf)
	return robot, notifytest.NewStorm(t, wecom.Kind(), open(t, wecom.Kind().DefaultURL, &http.Client{Transport: robot}), notices, severity)
}

func said(robot *wecomtest.Robot) []string {
	var all []string
	for _, m := range robot.Messages() {
		all = append(all, m.Content)
	}
	return all
}

func TestThousandNoticesArriveOnceAndNeverOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notices = 1000
		robot, s := storm(t, notices, fleet.Warning)
		sender := s.Sender()
		began := time.Now()
		announced := map[int64]time.Time{}
		for i := int64(0); s.Left() > 0; i++ {
			if i%10 == 3 { // now and then an act is announced
				id := 5000 + i
				s.Announce(id, notify.Notice{
					Event: notify.EventPending, Severity: fleet.Info,
					Intent: &fleet.Intent{ID: id, Action: fleet.Stop, Warn: 10 * time.Minute, Subject: fleet.Instance{
						Ref: fleet.Ref{Account: "a", Kind: fleet.KindInstance, ID: fmt.Sprintf("pod-%d", i)},
					}},
				})
				announced[id] = time.Now()
			}
			s.Step(sender, time.Minute)
		}
		if n := robot.Refused(); n != 0 {
			t.Errorf("%d messages were over the robot's limit", n)
		}
		s.Once(said(robot), len(announced))
		if len(announced) < 5 {
			t.Fatalf("only %d acts were announced", len(announced))
		}
		for id, at := range announced {
			if wait := s.Row(id).AcceptedAt.Sub(at); wait > 0 {
				t.Errorf("announcement %d waited %v behind the storm", id, wait)
			}
		}
		// While announcements may come, ordinary messages leave them room: 13 a
		// minute in all.
		if took, most := time.Since(began), time.Duration(notices+len(announced))*time.Minute/13+5*time.Minute; took > most {
			t.Errorf("the storm took %v, with %d announcements; %v would do", took, len(announced), most)
		}
	})
}

// A daemon that restarts knows what it sent in this minute.
func TestRestartsInAStormKeepTheLimitAndLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notices = 200
		robot, s := storm(t, notices, fleet.Critical) // which may use what is kept back
		for range 3 {
			if _, err := s.Sender().Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.Pass()
		if n := robot.Refused(); n != 0 {
			t.Errorf("%d messages were over the robot's limit", n)
		}
		s.Once(said(robot), 0)
	})
}

func TestFailuresOfThePlatformLoseNothing(t *testing.T) {
	for name, answers := range map[string][]wecomtest.Answer{
		"a minute of too many":  {{Code: 45009, Msg: "api freq out of limit"}},
		"a busy platform":       {{Code: -1, Msg: "system busy"}, {Code: -1, Msg: "system busy"}},
		"a captive portal":      {{Raw: "<html>log in</html>"}, {Raw: "<html>log in</html>"}},
		"a gateway that is out": {{Status: 502, Raw: "bad gateway"}, {Status: 503, Raw: "no"}, {Status: 500}},
		"a message too long":    {{Code: 40058, Msg: "markdown.content exceed max length 4096"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				robot, s := storm(t, 30, fleet.Warning)
				robot.Answer(answers...)
				s.Pass()
				s.Once(said(robot), 0)
				if got := robot.Refused(); got != len(answers) {
					t.Errorf("%d requests were refused, want %d: the channel was not left in peace", got, len(answers))
				}
			})
		})
	}
}
