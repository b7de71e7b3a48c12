package notifytest

import (
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
)

// Storm is an outbox with many notices for one channel, to be sent in the simulated
// time of testing/synctest.
type Storm struct {
	*Outbox

	t        testing.TB
	notices  int
	channels map[string]notify.OpenChannel
}

// stormy is what the channel of a Storm is called.
const stormy = "storm"

// NewStorm puts so many findings, of these severities in turn, into an outbox for a
// channel.
func NewStorm(t testing.TB, kind notify.Kind, c notify.Channel, notices int, severities ...fleet.Severity) *Storm {
	t.Helper()
	words, err := text.New(text.Chinese, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	s := &Storm{
		Outbox: NewOutbox(t), t: t, notices: notices,
		channels: map[string]notify.OpenChannel{stormy: {Channel: c, Kind: kind, Renderer: words}},
	}
	for i := range notices {
		s.Announce(0, notify.Notice{
			Event: notify.EventFinding, Severity: severities[i%len(severities)], Category: fleet.CategoryHealth,
			Reason: fleet.Reason{Code: "storm", Values: fleet.Values{"n": fleet.Text(fmt.Sprintf("(%d)", i))}}, // it has no text: it is told as it is
		})
	}
	return s
}

// Announce puts one notice more in, due now; id zero is the next one.
func (s *Storm) Announce(id int64, n notify.Notice) {
	s.Add(notify.Delivery{ID: id, Channel: stormy, NextAt: time.Now(), Notice: n})
}

// Sender makes a Sender as a daemon that starts does.
func (s *Storm) Sender() *notify.Sender {
	return notify.NewSender(notify.SenderOptions{Outbox: s.Outbox, Now: time.Now, Logger: zerolog.New(io.Discard), Channels: s.channels})
}

// Step flushes once and waits as long as was asked for, at most this long.
func (s *Storm) Step(sender *notify.Sender, most time.Duration) {
	s.t.Helper()
	next, err := sender.Flush(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if next.IsZero() && s.Left() > 0 {
		s.t.Fatalf("%d deliveries are left, and nothing is waited for", s.Left())
	}
	if wait := time.Until(next); !next.IsZero() && wait > 0 {
		time.Sleep(min(wait, most))
	}
}

// Pass sends until all is told or given up, and gives how long it took.
func (s *Storm) Pass() time.Duration {
	s.t.Helper()
	began, sender := time.Now(), s.Sender()
	for s.Left() > 0 {
		s.Step(sender, 24*time.Hour)
	}
	return time.Since(began)
}

// Once checks in all the words that arrived that every notice of the storm did, and
// none twice; so many messages may be of something else.
func (s *Storm) Once(words []string, others int) {
	s.t.Helper()
	times := map[string]int{}
	number := regexp.MustCompile(`storm n=(\(\d+\))`)
	for _, said := range words {
		found := number.FindAllStringSubmatch(said, -1)
		if found == nil {
			others--
		}
		for _, n := range found {
			times[n[1]]++
		}
	}
	for i := range s.notices {
		if n := fmt.Sprintf("(%d)", i); times[n] != 1 {
			s.t.Errorf("notice %s arrived %d times", n, times[n])
		}
	}
	if len(times) > s.notices || others != 0 {
		s.t.Errorf("%d different notices arrived, want %d; %d other messages are missing", len(times), s.notices, others)
	}
}
