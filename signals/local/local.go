// Package local looks at the machine that curfew itself runs in: the look of
// [curfew/internal/look], run by the machine's own shell. It needs neither a
// network nor a login, and sees what a login of the same user would see.
package local

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/look"
	"curfew/signals"
)

// Why the machine could not be looked at.
const (
	ReasonTimeout fleet.Code = "local.timeout" // the look hangs
	ReasonCommand fleet.Code = "local.command" // it could not be run
	ReasonGarbled fleet.Code = "local.garbled" // the answer is no answer
)

// Options are the options of a source.
type Options struct {
	Every   time.Duration // between two looks; default 30 s
	Timeout time.Duration // of one look; default 10 s
	// Env is the environment of the look: PATH, and HOME, in which the files are
	// that report runs and ask for a hold. It holds nothing else: what else the
	// daemon is given, such as tokens, is not for the programs a look runs.
	Env []string
	// Ask tells what policies want to know beyond the usual; nil: nothing.
	Ask func(i fleet.Instance) signals.Ask
	Now func() time.Time // required
	// Zone is the zone of a time of day in a hold file; nil: the machine's own.
	Zone *time.Location
	// Shell is a POSIX shell; default /bin/sh.
	Shell string
}

// Source looks at the machine curfew runs in.
type Source struct {
	o     Options
	clock look.Clock
	// running is closed when the shell of the last look has ended; nil before the
	// first.
	running <-chan struct{}
}

var _ signals.Source = (*Source)(nil)

// New makes a source. It starts nothing.
func New(o Options) (*Source, error) {
	if o.Now == nil {
		return nil, errors.New("the local source needs Now")
	}
	o.Every = cmp.Or(o.Every, 30*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Shell = cmp.Or(o.Shell, "/bin/sh")
	if o.Ask == nil {
		o.Ask = func(fleet.Instance) signals.Ask { return signals.Ask{} }
	}
	return &Source{o: o}, nil
}

// Name is local.
func (s *Source) Name() string { return "local" }

// Applies reports whether the instance is the machine curfew runs in.
func (s *Source) Applies(i fleet.Instance) bool { return i.Here }

// Look looks at the machine curfew runs in, and answers for no other instance.
func (s *Source) Look(ctx context.Context, is []fleet.Instance) (map[fleet.Ref][]fleet.Evidence, error) {
	all := map[fleet.Ref][]fleet.Evidence{}
	for _, i := range is {
		if s.Applies(i) && all[i.Ref] == nil {
			all[i.Ref] = []fleet.Evidence{s.look(ctx, i)}
		}
	}
	return all, nil
}

// Close waits for nothing: a look that is still under way ends by itself.
func (s *Source) Close() error { return nil }

func (s *Source) look(ctx context.Context, i fleet.Instance) fleet.Evidence {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	e := fleet.Evidence{
		Source: s.Name(), SeenAt: s.o.Now(), Boot: i.Boot, FreshFor: 2*s.o.Every + s.o.Timeout,
	}
	if s.running != nil {
		select {
		case <-s.running:
		default: // not even a kill ended it: another would hang as well
			e.Reason = s.timedOut()
			return e
		}
	}
	one := look.Ask(look.Question{Ask: s.o.Ask(i), Cards: i.GPU.Count, Zone: s.o.Zone}, s.o.Timeout/2)
	began := s.o.Now()
	run := s.start(one.Script)
	s.running = run.Ended()
	got := run.Wait(ctx)
	facts, ok := one.Read(got.Out, &s.clock, began, s.o.Now(), cut(got))
	switch {
	case ok:
		e.Facts = facts
	case ctx.Err() != nil:
		e.Reason = s.timedOut()
	case got.Err != nil:
		e.Reason = fleet.Because(ReasonCommand, fleet.Values{"error": fleet.Text(look.Short(got.Err.Error()))})
	default:
		e.Reason = fleet.Because(ReasonGarbled, fleet.Values{"said": fleet.Text(look.Short(strings.TrimSpace(string(got.Out))))})
	}
	return e
}

func (s *Source) timedOut() fleet.Reason {
	return fleet.Because(ReasonTimeout, fleet.Values{"timeout": fleet.Span(s.o.Timeout)})
}
