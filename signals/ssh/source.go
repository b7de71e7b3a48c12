package ssh

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/sshx"
	"curfew/signals"
)

// Options are the options of a source.
type Options struct {
	Every   time.Duration // between two looks; default 30 s
	Timeout time.Duration // of the look at one instance, login included; default 10 s
	Key     []byte        // private key in PEM form; may be nil
	// Access tells how to log in. It may cost a request to the provider: it is
	// asked at first sight, in a new boot and after a failed login, and never more
	// than once a minute for one instance. Required.
	Access func(ctx context.Context, i fleet.Instance) (fleet.Access, error)
	// Ask tells what policies want to know beyond the usual; nil: nothing.
	Ask func(i fleet.Instance) signals.Ask
	Now func() time.Time // required
	// Parallel is how many instances are looked at side by side; default 32.
	Parallel int
	// Zone is the zone of a time of day in a hold file; nil: the box's own.
	Zone *time.Location
	// Pins keeps the host keys; nil: for as long as the source lives.
	Pins sshx.Pins
	// Dial makes TCP connections; nil: the machine's own network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Source looks at instances over SSH.
type Source struct {
	o      Options
	dialer *sshx.Dialer
	lines  map[fleet.Ref]*line
}

var _ signals.Source = (*Source)(nil)

// New makes a source. It opens no connection.
func New(o Options) (*Source, error) {
	if o.Access == nil || o.Now == nil {
		return nil, errors.New("the ssh source needs Access and Now")
	}
	o.Every = cmp.Or(o.Every, 30*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Parallel = max(1, cmp.Or(o.Parallel, 32))
	if o.Ask == nil {
		o.Ask = func(fleet.Instance) signals.Ask { return signals.Ask{} }
	}
	if o.Pins == nil {
		o.Pins = sshx.NewMemoryPins()
	}
	s := &Source{o: o, lines: map[fleet.Ref]*line{}}
	s.dialer = &sshx.Dialer{Pins: o.Pins, Timeout: o.Timeout, DialContext: o.Dial}
	if o.Key != nil {
		key, err := sshx.ParseKey(o.Key)
		if err != nil {
			return nil, err
		}
		s.dialer.Key = key
	}
	return s, nil
}

// Name is ssh.
func (s *Source) Name() string { return "ssh" }

// Applies leaves out the machine that curfew itself runs in: it is not logged in
// to.
func (s *Source) Applies(i fleet.Instance) bool { return !i.Here }

// freshFor is how long one look may be relied on.
func (s *Source) freshFor() time.Duration { return 2*s.o.Every + s.o.Timeout }

// Look looks at every instance, several side by side, each for at most the
// time-out. It always answers for each.
func (s *Source) Look(ctx context.Context, is []fleet.Instance) (map[fleet.Ref][]fleet.Evidence, error) {
	s.closeUnused()
	seen := make([]fleet.Evidence, len(is))
	once := map[fleet.Ref]int{}
	var wg sync.WaitGroup
	slots := make(chan struct{}, s.o.Parallel)
	for n, i := range is {
		if _, twice := once[i.Ref]; twice {
			continue
		}
		once[i.Ref] = n
		l := s.line(i)
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			seen[n] = l.look(ctx, i)
		})
	}
	wg.Wait()
	all := make(map[fleet.Ref][]fleet.Evidence, len(once))
	for ref, n := range once {
		all[ref] = []fleet.Evidence{seen[n]}
	}
	return all, nil
}

// Close ends every connection.
func (s *Source) Close() error {
	for ref, l := range s.lines {
		l.hangUp()
		delete(s.lines, ref)
	}
	return nil
}

// line gives the instance's line. Nothing outlives a boot: neither the
// connection nor the password.
func (s *Source) line(i fleet.Instance) *line {
	l := s.lines[i.Ref]
	if l == nil || l.boot != i.Boot {
		if l != nil {
			l.hangUp()
		}
		l = &line{source: s, boot: i.Boot}
		s.lines[i.Ref] = l
	}
	l.used = s.o.Now()
	return l
}

// closeUnused hangs up on instances nobody has asked about for as long as a look
// is good for. One that is merely left out of a call, such as a fresh look at a
// single instance, keeps its connection.
func (s *Source) closeUnused() {
	for ref, l := range s.lines {
		if s.o.Now().Sub(l.used) > s.freshFor() {
			l.hangUp()
			delete(s.lines, ref)
		}
	}
}
