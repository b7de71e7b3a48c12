package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"
)

const (
	sendGrace   = time.Second
	slowPause   = time.Second // a slow channel lets the others have their turn
	stuckPause  = 30 * time.Second
	brokenPause = 5 * time.Minute
)

// lane is one channel's way out of the outbox. It is used by one goroutine at a
// time, and remembers what the platform must not be asked again too soon.
type lane struct {
	name   string
	open   OpenChannel
	outbox Outbox
	now    func() time.Time
	log    zerolog.Logger

	began    time.Time // of this flush
	quota    quota
	failures int       // attempts in a row that the channel did not judge
	lastCode string    // of the last failure
	paused   time.Time // nothing is sent before it
	broken   *Verdict
	told     bool // that it is broken
	recalled bool // the quota knows of earlier lives
	// stuck is the answer of a Send that outlived its time-out; nothing is sent
	// until it has returned.
	stuck chan Verdict
	// waiting says when each known delivery should be looked at again.
	waiting map[int64]time.Time
	// unrecorded holds what was sent and could not be written down.
	unrecorded map[int64]sent
	// aside are the templates of which it was logged that they are not used.
	aside map[string]bool
}

// sent is what became of an attempt.
type sent struct {
	outs []Outcome
	now  time.Time
}

func newLane(name string, open OpenChannel, o SenderOptions) *lane {
	return &lane{
		name: name, open: open, outbox: o.Outbox, now: o.Now,
		log:     o.Logger.With().Str("channel", name).Logger(),
		quota:   quota{perMinute: open.Kind.PerMinute, perDay: open.Kind.PerDay, perMonth: open.Kind.PerMonth},
		waiting: map[int64]time.Time{}, unrecorded: map[int64]sent{}, aside: map[string]bool{},
	}
}

// next is when the lane wants to be flushed again; zero: nothing waits.
func (l *lane) next() time.Time {
	var next time.Time
	for _, t := range l.waiting {
		next = sooner(next, t)
	}
	return next
}

// forget drops what is no longer in the outbox: deliveries that were to be due
// by now and are not. more says that due is not all there is.
func (l *lane) forget(now time.Time, due []Delivery, more bool) {
	here := make(map[int64]bool, len(due))
	for _, d := range due {
		here[d.ID] = true
	}
	for id, t := range l.waiting {
		if !t.After(now) || here[id] {
			delete(l.waiting, id)
		}
	}
	for id := range l.unrecorded {
		if !here[id] && !more {
			delete(l.unrecorded, id)
		}
	}
}

// flush sends the deliveries, urgent ones first, as far as the channel has room.
// Those of one group that are due go together. With all set, each one left over is
// given a later NextAt.
func (l *lane) flush(ctx context.Context, due []Delivery, all bool) error {
	l.began = l.now()
	l.forget(l.began, due, all)
	if err := l.recall(ctx); err != nil {
		return err
	}
	due, err := l.stillTold(ctx, due)
	if err != nil {
		return err
	}
	slices.SortFunc(due, func(a, b Delivery) int {
		return cmp.Or(cmp.Compare(a.Notice.rank(), b.Notice.rank()), a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	left := 0
	for _, one := range letters(due) {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := l.now()
		if until := l.shut(one, now); until.After(now) {
			if err := l.leave(ctx, one, until, left, all, now); err != nil {
				return err
			}
			left++
			continue
		}
		if err := l.attempt(ctx, one, now); err != nil {
			return err
		}
	}
	return nil
}

// stillTold gives the deliveries that are still to be sent. What was sent and could
// not be written down is, and what nobody is to be told any more is closed.
func (l *lane) stillTold(ctx context.Context, due []Delivery) ([]Delivery, error) {
	var out []Delivery
	var closed []Outcome
	written := map[int64]bool{}
	for _, d := range due {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now := l.now()
		code := ""
		switch {
		case d.overtaken():
			code = CodeOvertaken
		case d.expired(now):
			code = CodeExpired
		}
		r, ok := l.unrecorded[d.ID]
		switch {
		case written[d.ID]:
		case ok:
			for _, o := range r.outs {
				written[o.Delivery.ID] = true
			}
			if err := l.record(ctx, r, true); err != nil {
				return nil, err
			}
		case code != "":
			if code == CodeExpired {
				l.log.Error().Int64("notice", d.NoticeID).Int("attempt", d.Attempt).Msg("notice expired before the channel took it")
			}
			closed = append(closed, Outcome{Delivery: d, Verdict: Verdict{Code: code}})
		default:
			out = append(out, d)
		}
	}
	if len(closed) == 0 {
		return out, nil
	}
	return out, l.record(ctx, sent{outs: closed, now: l.now()}, false)
}

// recall reads, once, what an earlier life counted against the channel's quota.
func (l *lane) recall(ctx context.Context) error {
	if l.recalled || l.quota.longest() == 0 {
		return nil
	}
	sent, err := l.outbox.Sends(ctx, l.name, l.began.Add(-l.quota.longest()))
	if err != nil {
		return err
	}
	l.quota.sent, l.recalled = append(sent, l.quota.sent...), true
	return nil
}

// shut says until when the letter cannot be sent.
func (l *lane) shut(one letter, now time.Time) time.Time {
	if l.broken != nil {
		return now.Add(brokenPause)
	}
	if l.stuck != nil {
		select {
		case <-l.stuck:
			l.stuck = nil
		default:
			return now.Add(stuckPause)
		}
	}
	if l.paused.After(now) {
		return l.paused
	}
	if now.Sub(l.began) >= sendTimeout {
		return now.Add(slowPause)
	}
	return l.quota.free(one.urgent(), now)
}

// leave keeps a letter for later, behind those left before it.
func (l *lane) leave(ctx context.Context, one letter, until time.Time, before int, all bool, now time.Time) error {
	if all && l.quota.perMinute > 0 {
		until = until.Add(time.Duration(before) * minuteWindow / time.Duration(l.quota.perMinute))
	}
	var outs []Outcome
	for _, d := range one {
		at := until
		if !d.ExpiresAt.IsZero() && at.After(d.ExpiresAt) {
			at = d.ExpiresAt
		}
		if !all {
			l.waiting[d.ID] = at
			continue
		}
		outs = append(outs, Outcome{Delivery: d, Verdict: Verdict{Kind: VerdictRetry, Code: CodePostponed}, Next: at})
	}
	if len(outs) == 0 {
		return nil
	}
	return l.record(ctx, sent{outs: outs, now: now}, false)
}

// attempt sends one letter and records what became of it.
func (l *lane) attempt(ctx context.Context, one letter, now time.Time) error {
	if ids := one.sealed(); len(ids) > 0 {
		if err := l.outbox.Seal(ctx, one.id(), ids); err != nil {
			return fmt.Errorf("notify: note what goes to %s in one message: %w", l.name, err)
		}
	}
	v := l.send(ctx, l.message(one, now))
	if err := ctx.Err(); err != nil && v.Kind != VerdictOK {
		return err // we broke it off ourselves: not an attempt
	}
	now = l.now()
	l.quota.spend(now)
	r := sent{now: now}
	for _, d := range one {
		d.Attempt++
		next, plain, final := Next(v, d, now)
		if final && v.Kind == VerdictBadMessage && len(one) > 1 {
			next, final, d.Alone = now, false, true
		}
		d.Plain, d.Letter = plain, ""
		l.learn(d, v, final, now, len(r.outs) == 0)
		r.outs = append(r.outs, Outcome{Delivery: d, Verdict: v, Next: next})
	}
	for _, o := range r.outs {
		l.unrecorded[o.Delivery.ID] = r
	}
	return l.record(ctx, r, true)
}

// message renders a letter.
func (l *lane) message(one letter, now time.Time) Message {
	var ns []Notice
	for _, d := range one {
		ns = append(ns, d.Notice)
	}
	m, err := l.open.Render(ns, now)
	if err != nil {
		l.leaveAside(err)
	}
	m.Mentions = mentioned(ns, l.open.People)
	m.DeliveryID, m.Notices = one.id(), ns
	m.Thread, m.ReplyTo = one.thread()
	m.Silent = !slices.ContainsFunc(one, func(d Delivery) bool { return !d.Silent })
	if one[0].Plain {
		m.Markdown = ""
	}
	return m
}

// leaveAside logs, once for each file, that a template was not used. One that took too
// long may still be at work: none is used after it.
func (l *lane) leaveAside(err error) {
	if errors.Is(err, errTemplateSlow) {
		l.open.Templates = nil
	}
	file := ""
	if e, ok := errors.AsType[*TemplateError](err); ok {
		file = e.File
	}
	if !l.aside[file] {
		l.aside[file] = true
		l.log.Error().Str("file", file).Err(err).Msg("template not used, the notice is told in the usual words")
	}
}

// send calls the channel and gives up on it when its time is over, so that one
// that ignores its context holds up nobody.
func (l *lane) send(ctx context.Context, m Message) Verdict {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	answer := make(chan Verdict, 1)
	go func() { answer <- l.open.Channel.Send(ctx, m) }()
	select {
	case v := <-answer:
		return v
	case <-ctx.Done():
	}
	// A channel that minds its context answers now, perhaps even with a success.
	grace := time.NewTimer(sendGrace)
	defer grace.Stop()
	select {
	case v := <-answer:
		return v
	case <-grace.C:
		l.stuck = answer
		return Verdict{Kind: VerdictRetry, Code: CodeTimeout, Detail: "no answer within " + sendTimeout.String()}
	}
}

// learn keeps what the verdict says of the channel, and logs what it says of the
// delivery; of several in one letter the first speaks for the channel.
func (l *lane) learn(d Delivery, v Verdict, final bool, now time.Time, first bool) {
	level := zerolog.WarnLevel
	switch {
	case v.Kind == VerdictOK:
		l.failures, l.lastCode = 0, ""
		l.log.Debug().Int64("notice", d.NoticeID).Int("attempt", d.Attempt).Msg("notice sent")
		return
	case v.Kind == VerdictPermanent:
		if l.broken == nil {
			l.broken = &v
		}
		level = zerolog.ErrorLevel
	case v.Kind == VerdictRetry || v.Kind == VerdictUnknown:
		if first {
			l.failures++
			l.paused = now.Add(max(v.After, backoff(l.failures, 2)))
		}
		if final {
			level = zerolog.ErrorLevel
		} else if v.Code == l.lastCode && l.failures > 1 {
			level = zerolog.DebugLevel
		}
		l.lastCode = v.Code
	case final:
		level = zerolog.ErrorLevel
	}
	l.log.WithLevel(level).Int64("notice", d.NoticeID).Int("attempt", d.Attempt).Bool("final", final).
		Str("verdict", string(v.Kind)).Str("code", v.Code).Str("detail", v.Detail).Msg("notice not sent")
}

func (l *lane) record(ctx context.Context, r sent, spent bool) error {
	if err := record(ctx, l.outbox, l.name, r.outs, spent, r.now); err != nil {
		return err
	}
	for _, o := range r.outs {
		delete(l.unrecorded, o.Delivery.ID)
		if !o.Next.IsZero() {
			l.waiting[o.Delivery.ID] = o.Next
		}
	}
	return nil
}
