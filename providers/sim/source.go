package sim

import (
	"context"
	"time"

	"curfew/fleet"
)

// Why a look at a simulated instance tells nothing.
const (
	ReasonSilent      fleet.Code = "provider.sim-silent"
	ReasonStartedAnew fleet.Code = "provider.sim-started-anew"
)

// Source looks inside the instances of a cloud. It is a signals.Source.
type Source struct {
	cloud          *Cloud
	every, timeout time.Duration
	// Ask names the files to stat and the logs to read at an instance; nil is none.
	Ask func(i fleet.Instance) (files, logs []string)
	// Now is the clock of whoever looks; nil is the cloud's. What happens inside
	// goes by the cloud's.
	Now func() time.Time
}

// Source gives a way to look inside, of which one look may be relied on for
// twice every and once timeout.
func (c *Cloud) Source(every, timeout time.Duration) *Source {
	return &Source{cloud: c, every: every, timeout: timeout}
}

// Name is sim.
func (s *Source) Name() string { return "sim" }

// Applies says yes: a world has nothing but its own instances.
func (s *Source) Applies(fleet.Instance) bool { return true }

// Close does nothing.
func (s *Source) Close() error { return nil }

// Look looks at all of the instances at once.
func (s *Source) Look(ctx context.Context, is []fleet.Instance) (map[fleet.Ref][]fleet.Evidence, error) {
	c := s.cloud
	if err := ctx.Err(); err != nil {
		return nil, &fleet.Error{Op: "sim: look", Kind: fleet.Transient, Err: err}
	}
	c.mu.Lock()
	f := c.fault("", "look", fleet.Ref{})
	c.mu.Unlock()
	if f != nil {
		if f.Reached != nil {
			f.Reached()
		}
		if err, _ := f.answer(ctx, "sim: look", false); err != nil {
			return nil, err
		}
	}
	out := make(map[fleet.Ref][]fleet.Evidence, len(is))
	for _, i := range is {
		var files, logs []string
		if s.Ask != nil {
			files, logs = s.Ask(i)
		}
		out[i.Ref] = []fleet.Evidence{s.look(i, files, logs)}
	}
	return out, nil
}

func (s *Source) look(i fleet.Instance, files, logs []string) fleet.Evidence {
	c := s.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	e := fleet.Evidence{Source: s.Name(), SeenAt: now, Boot: i.Boot, FreshFor: 2*s.every + s.timeout}
	if s.Now != nil {
		e.SeenAt = s.Now()
	}
	blind := func(code fleet.Code) fleet.Evidence {
		e.Reason = fleet.Because(code, fleet.Values{"instance": fleet.Text(i.DisplayName())})
		return e
	}
	m := c.find(i.Ref.ID)
	if m == nil || m.removed || i.AccountName != "" && i.AccountName != m.account.Name {
		return blind(ReasonSilent)
	}
	in, ok := m.inside(now)
	if !ok || in.dark() {
		return blind(ReasonSilent)
	}
	// A login from one power cycle does not open the next, so that what is seen
	// is never told of a boot it was not seen in.
	if on := in.cycles[in.boot].on; !i.StartedAt.IsZero() && fleet.BootAt(i.StartedAt) != fleet.BootAt(on) {
		return blind(ReasonStartedAnew)
	}
	e.Facts = in.facts(files, logs)
	return e
}
