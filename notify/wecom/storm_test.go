package wecom_test

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
	"curfew/notify/notifytest"
	"curfew/notify/wecom"
	"curfew/notify/wecom/wecomtest"
)

// storm is a robot, an outbox with so many deliveries to it, and a way to make
// Senders.
type storm struct {
	robot  *wecomtest.Robot
	outbox *notifytest.Outbox
	sender func() *notify.Sender
}

func newStorm(t *testing.T, notices int) storm {
	t.Helper()
	r, err := text.New(text.Chinese, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	s := storm{robot: wecomtest.New(key, time.Now, t.Errorf), outbox: notifytest.NewOutbox(t)}
	channel := open(t, wecom.Kind().DefaultURL, &http.Client{Transport: s.robot})
	s.sender = func() *notify.Sender {
		return notify.NewSender(notify.SenderOptions{
			Outbox: s.outbox, Now: time.Now, Logger: zerolog.New(io.Discard),
			Channels: map[string]notify.OpenChannel{"wx": {Channel: channel, Kind: wecom.Kind(), Renderer: r}},
		})
	}
	for i := range notices {
		s.outbox.Add(notify.Delivery{Channel: "wx", Notice: notify.Notice{
			Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryHealth,
			Reason: fleet.Because("storm", fleet.Values{"n": fleet.Text(fmt.Sprintf("(%d)", i))}),
		}})
	}
	return s
}

// step flushes once and waits as long as was asked for, at most a minute.
func (s storm) step(t *testing.T, sender *notify.Sender) {
	t.Helper()
	next, err := sender.Flush(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if wait := time.Until(next); !next.IsZero() && wait > 0 {
		time.Sleep(min(wait, time.Minute))
	}
}

// once checks that every notice arrived, and none twice.
func (s storm) once(t *testing.T, notices int) {
	t.Helper()
	times := map[string]int{}
	number := regexp.MustCompile(`storm n=\((\d+)\)`)
	for _, m := range s.robot.Messages() {
		if found := number.FindStringSubmatch(m.Content); found != nil {
			times[found[1]]++
		}
	}
	if len(times) != notices {
		t.Errorf("%d of %d notices arrived", len(times), notices)
	}
	for n, k := range times {
		if k != 1 {
			t.Errorf("notice %s arrived %d times", n, k)
		}
	}
}

func TestThousandNoticesArriveOnceAndNeverOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notices = 1000
		s := newStorm(t, notices)
		sender := s.sender()
		began := time.Now()
		announced := map[int64]time.Time{}
		for i := int64(0); s.outbox.Left() > 0; i++ {
			if i%10 == 3 { // now and then an act is announced
				id := 5000 + i
				s.outbox.Add(notify.Delivery{ID: id, Channel: "wx", NextAt: time.Now(), Notice: notify.Notice{
					Event: notify.EventPending, Severity: fleet.Info,
					Intent: &fleet.Intent{ID: id, Action: fleet.Stop, Warn: 10 * time.Minute, Subject: fleet.Instance{
						Ref: fleet.Ref{Account: "a", Kind: fleet.KindInstance, ID: fmt.Sprintf("pod-%d", i)},
					}},
				}})
				announced[id] = time.Now()
			}
			s.step(t, sender)
		}
		if n := s.robot.Refused(); n != 0 {
			t.Errorf("%d messages were over the robot's limit", n)
		}
		s.once(t, notices)
		if len(announced) < 5 {
			t.Fatalf("only %d acts were announced", len(announced))
		}
		for id, at := range announced {
			if wait := s.outbox.Row(id).AcceptedAt.Sub(at); wait > 0 {
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
		s := newStorm(t, notices)
		for range 3 {
			if _, err := s.sender().Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sender := s.sender()
		for s.outbox.Left() > 0 {
			s.step(t, sender)
		}
		if n := s.robot.Refused(); n != 0 {
			t.Errorf("%d messages were over the robot's limit", n)
		}
		s.once(t, notices)
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
				s := newStorm(t, 30)
				s.robot.Answer(answers...)
				sender := s.sender()
				for s.outbox.Left() > 0 {
					s.step(t, sender)
				}
				s.once(t, 30)
				if got := s.robot.Refused(); got != len(answers) {
					t.Errorf("%d requests were refused, want %d: the channel was not left in peace", got, len(answers))
				}
			})
		})
	}
}
