package notify

import (
	"cmp"
	"context"
	"slices"
	"strconv"
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
	// stuck is the answer of a Send that outlived its time-out; nothing is sent
	// until it has returned.
	stuck chan Verdict
	// waiting says when each known delivery should be looked at again.
	waiting map[int64]time.Time
	// unrecorded holds what was sent and could not be written down.
	unrecorded map[int64]result
}

// result is what became of an attempt.
type result struct {
	d         Delivery
	v         Verdict
	next, now time.Time
}

func newLane(name string, open OpenChannel, o SenderOptions) *lane {
	return &lane{
		name: name, open: open, outbox: o.Outbox, now: o.Now,
		log:     o.Logger.With().Str("channel", name).Logger(),
		quota:   quota{perMinute: open.Kind.PerMinute, perDay: open.Kind.PerDay},
		waiting: map[int64]time.Time{}, unrecorded: map[int64]result{},
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
// With all set, each one left over is given a later NextAt.
func (l *lane) flush(ctx context.Context, due []Delivery, all bool) error {
	l.began = l.now()
	l.forget(l.began, due, all)
	slices.SortFunc(due, func(a, b Delivery) int {
		return cmp.Or(cmp.Compare(a.Notice.rank(), b.Notice.rank()), a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	left := 0
	for _, d := range due {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := l.now()
		if r, ok := l.unrecorded[d.ID]; ok {
			if err := l.record(ctx, r); err != nil {
				return err
			}
			continue
		}
		if d.overtaken() {
			if err := l.record(ctx, result{d: d, v: Verdict{Code: CodeOvertaken}, now: now}); err != nil {
				return err
			}
			continue
		}
		if d.expired(now) {
			l.log.Error().Int64("notice", d.NoticeID).Int("attempt", d.Attempt).Msg("notice expired before the channel took it")
			if err := l.record(ctx, result{d: d, v: Verdict{Code: CodeExpired}, now: now}); err != nil {
				return err
			}
			continue
		}
		if until := l.shut(d, now); until.After(now) {
			if err := l.leave(ctx, d, until, left, all, now); err != nil {
				return err
			}
			left++
			continue
		}
		if err := l.attempt(ctx, d, now); err != nil {
			return err
		}
	}
	return nil
}

// shut says until when the delivery cannot be sent.
func (l *lane) shut(d Delivery, now time.Time) time.Time {
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
	return l.quota.free(d.Notice.Urgent(), now)
}

// leave keeps a delivery for later, behind those left before it.
func (l *lane) leave(ctx context.Context, d Delivery, until time.Time, before int, all bool, now time.Time) error {
	if all && l.quota.perMinute > 0 {
		until = until.Add(time.Duration(before) * minuteWindow / time.Duration(l.quota.perMinute))
	}
	if !d.ExpiresAt.IsZero() && until.After(d.ExpiresAt) {
		until = d.ExpiresAt
	}
	if !all {
		l.waiting[d.ID] = until
		return nil
	}
	return l.record(ctx, result{d: d, v: Verdict{Kind: VerdictRetry, Code: CodePostponed}, next: until, now: now})
}

// attempt sends one delivery and records what became of it.
func (l *lane) attempt(ctx context.Context, d Delivery, now time.Time) error {
	m := Render(d.Notice, l.open.Renderer, now)
	m.DeliveryID = strconv.FormatInt(d.ID, 10)
	if d.Plain {
		m.Markdown = ""
	}
	v := l.send(ctx, m)
	if err := ctx.Err(); err != nil && v.Kind != VerdictOK {
		return err // we broke it off ourselves: not an attempt
	}
	now = l.now()
	l.quota.spend(now)
	d.Attempt++
	next, plain, final := Next(v, d, now)
	d.Plain = plain
	l.learn(d, v, final, now)
	l.unrecorded[d.ID] = result{d: d, v: v, next: next, now: now}
	return l.record(ctx, l.unrecorded[d.ID])
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
// delivery.
func (l *lane) learn(d Delivery, v Verdict, final bool, now time.Time) {
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
		l.failures++
		l.paused = now.Add(max(v.After, backoff(l.failures, 2)))
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

func (l *lane) record(ctx context.Context, r result) error {
	if err := record(ctx, l.outbox, r.d, r.v, r.next, r.now); err != nil {
		return err
	}
	delete(l.unrecorded, r.d.ID)
	if !r.next.IsZero() {
		l.waiting[r.d.ID] = r.next
	}
	return nil
}
