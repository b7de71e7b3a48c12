package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"curfew/internal/text"
)

const (
	sendTimeout   = 10 * time.Second
	recordTimeout = 10 * time.Second
	sendBatch     = 500
)

// OpenChannel is a configured channel, ready to send.
type OpenChannel struct {
	Channel  Channel
	Kind     Kind
	Renderer *text.Renderer // in the channel's language
	// Templates are words of the channel's own; nil: the built-in ones are used.
	Templates *Templates
	// People are the ids by which the channel knows people, by what they are called as
	// owners; the empty one is told of what is nobody's. Nil mentions nobody.
	People map[string]string
	// Actions are what a reader of one notice can say to it; nil: nothing. A message
	// that tells several has none: it would not be clear of which they are.
	Actions func(Notice) []Action
}

// SenderOptions is what a Sender is made of.
type SenderOptions struct {
	Outbox   Outbox
	Channels map[string]OpenChannel // by name
	Now      func() time.Time
	Logger   zerolog.Logger
	// OnBroken is told once when a channel says that it will not take anything
	// until its configuration changes. It is called by Flush, after the messages
	// of that round; it may be nil.
	OnBroken func(channel string, v Verdict)
}

// Sender empties the outbox. It sends each message at least once, counts what it
// sent against the channel's quota and leaves a channel in peace that asked for
// it. A new configuration gets a new Sender: that is also how a broken channel
// gets another chance.
type Sender struct {
	o     SenderOptions
	mu    sync.Mutex // Flush, one at a time
	lanes map[string]*lane
}

// NewSender makes a Sender.
func NewSender(o SenderOptions) *Sender {
	s := &Sender{o: o, lanes: make(map[string]*lane, len(o.Channels))}
	for name, open := range o.Channels {
		s.lanes[name] = newLane(name, open, o)
	}
	return s
}

// Broken names the channels that refuse everything until their configuration
// changes.
func (s *Sender) Broken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name, l := range s.lanes {
		if l.broken != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Spent counts a message that was sent over a channel by somebody else.
func (s *Sender) Spent(channel string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.lanes[channel]; ok && l.recalled {
		l.quota.spend(at)
	}
}

// Flush sends all that is due and has room, once, each channel on its own, and
// says when to call it next: zero where nothing is known to wait. It knows of
// what it postponed itself; for deliveries that an earlier life or another
// replica left waiting, call it once a minute as well, and whenever a notice was
// written.
//
// An error of the outbox ends the round for that channel: what was sent and
// could not be recorded is recorded by the next Flush, without sending it again,
// as long as this Sender lives.
func (s *Sender) Flush(ctx context.Context) (next time.Time, err error) {
	s.mu.Lock()
	err = s.rounds(ctx)
	var broke []*lane
	for _, l := range s.lanes {
		if l.broken != nil && !l.told {
			l.told = true
			broke = append(broke, l)
		}
		next = sooner(next, l.next())
	}
	s.mu.Unlock()
	slices.SortFunc(broke, func(a, b *lane) int { return strings.Compare(a.name, b.name) })
	for _, l := range broke {
		if s.o.OnBroken != nil {
			s.o.OnBroken(l.name, *l.broken)
		}
	}
	return next, err
}

// rounds sends batch after batch. After a full batch every delivery of it is
// either final or has a later NextAt, so that a channel with a long queue does
// not hide the deliveries of the others.
func (s *Sender) rounds(ctx context.Context) error {
	for {
		due, err := s.o.Outbox.DueDeliveries(ctx, s.o.Now(), sendBatch)
		if err != nil {
			return fmt.Errorf("notify: read due deliveries: %w", err)
		}
		full := len(due) >= sendBatch
		if err := s.round(ctx, due, full); err != nil || !full {
			return err
		}
	}
}

func (s *Sender) round(ctx context.Context, due []Delivery, full bool) error {
	byChannel := map[string][]Delivery{}
	for _, d := range due {
		byChannel[d.Channel] = append(byChannel[d.Channel], d)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for name, ds := range byChannel {
		wg.Go(func() {
			var err error
			if l, ok := s.lanes[name]; ok {
				err = l.flush(ctx, ds, full)
			} else {
				err = s.drop(ctx, ds)
			}
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	for name, l := range s.lanes {
		if _, busy := byChannel[name]; !busy {
			l.forget(s.o.Now(), nil, full)
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// drop closes deliveries to a channel that is no longer configured.
func (s *Sender) drop(ctx context.Context, ds []Delivery) error {
	for _, d := range ds {
		v := Verdict{Code: CodeNoChannel, Detail: "no channel of this name is configured"}
		if err := record(ctx, s.o.Outbox, d.Channel, []Outcome{{Delivery: d, Verdict: v}}, false, s.o.Now()); err != nil {
			return err
		}
		s.o.Logger.Error().Str("channel", d.Channel).Int64("notice", d.NoticeID).Msg("notice dropped, its channel is not configured")
	}
	return nil
}

// record writes verdicts even while the daemon is being stopped: a message that was
// sent must not be sent again.
func record(ctx context.Context, o Outbox, channel string, outs []Outcome, spent bool, now time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := o.RecordDeliveries(ctx, channel, outs, spent, now); err != nil {
		d, more := outs[0].Delivery, ""
		if len(outs) > 1 {
			more = fmt.Sprintf(" and %d more", len(outs)-1)
		}
		return fmt.Errorf("notify: record delivery %d of notice %d to %s%s: %w", d.ID, d.NoticeID, channel, more, err)
	}
	return nil
}

// sooner gives the earlier of two moments; zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
