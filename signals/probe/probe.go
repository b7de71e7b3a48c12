// Package probe asks somebody else whether an instance is at work: a URL or a
// command that answers busy or idle. It suits what no look from inside can tell,
// such as a queue with work that has not begun. Anything but a clear answer is
// Unknown.
package probe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/internal/look"
	"curfew/internal/proc"
	"curfew/signals"
)

// Why a probe could not be asked about an instance.
const (
	ReasonMatch   fleet.Code = "probe.match"   // whether it is about the instance cannot be told
	ReasonMissing fleet.Code = "probe.missing" // the instance lacks what the question names
	ReasonUnread  fleet.Code = "probe.unread"  // what the question names could not be read
	ReasonFailed  fleet.Code = "probe.failed"  // no answer came
	ReasonTimeout fleet.Code = "probe.timeout" // none in time
)

// parallel is how many instances a probe is asked about side by side.
const parallel = 8

// Options are the options of a source.
type Options struct {
	Name string // tells it from other probes; required
	// Match says which instances it is about; required. Of one for which it gives an
	// error nothing is known.
	Match func(i fleet.Instance) (bool, error)
	// URL or Command is what is asked; one of them is required.
	URL, Command *Question
	Every        time.Duration // between two looks; default 1 m
	Timeout      time.Duration // of the question about one instance; default 10 s
	Required     bool          // an instance is idle only with its word

	// Header is sent with a request; its values are secret.
	Header    map[string]string
	UserAgent string
	// Transport carries requests; required with URL. Its idle connections are closed
	// with the source.
	Transport http.RoundTripper
	// Env is the whole environment of a command.
	Env []string
	// Secrets gives what must never be shown, beside the values of Header; nil:
	// nothing.
	Secrets func() []string
	Now     func() time.Time // required
}

// Source asks a URL or a command.
type Source struct {
	o      Options
	client *http.Client
	redact *httpx.Redactor

	mu sync.Mutex
	// hung are the commands that not even a kill has ended: another of its kind would
	// hang as well.
	hung map[fleet.Ref]*proc.Run
}

var _ signals.Outside = (*Source)(nil)

// New makes a source. It asks nothing.
func New(o Options) (*Source, error) {
	switch {
	case o.Name == "" || o.Match == nil || o.Now == nil:
		return nil, errors.New("a probe needs Name, Match and Now")
	case (o.URL == nil) == (o.Command == nil):
		return nil, errors.New("a probe needs either URL or Command")
	case o.URL != nil && o.Transport == nil:
		return nil, errors.New("a probe by URL needs Transport")
	}
	o.Every = cmp.Or(o.Every, time.Minute)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	s := &Source{o: o, redact: httpx.NewRedactor(o.secrets), hung: map[fleet.Ref]*proc.Run{}}
	s.client = &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// secrets gives what must never be shown: of a header such as Bearer TOKEN also the
// token alone.
func (o Options) secrets() []string {
	var all []string
	if o.Secrets != nil {
		all = o.Secrets()
	}
	for _, value := range o.Header {
		all = append(all, value)
		if words := strings.Fields(value); len(words) > 1 {
			all = append(all, words[1:]...)
		}
	}
	return all
}

// Name is probe: and the name it was given.
func (s *Source) Name() string { return SourceName(s.o.Name) }

// SourceName is what the source of a probe with a name is called.
func SourceName(probe string) string { return "probe:" + probe }

// Applies reports whether the probe is about the instance, or may be.
func (s *Source) Applies(i fleet.Instance) bool {
	ok, err := s.o.Match(i)
	return ok || err != nil
}

// Required reports whether an instance is idle only with the probe's word.
func (s *Source) Required() bool { return s.o.Required }

// Look asks about every instance that the probe is about, several side by side,
// each for at most the time-out.
func (s *Source) Look(ctx context.Context, is []fleet.Instance) (map[fleet.Ref][]fleet.Evidence, error) {
	var mu sync.Mutex
	all := make(map[fleet.Ref][]fleet.Evidence, len(is))
	asked := make(map[fleet.Ref]bool, len(is))
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, i := range is {
		if asked[i.Ref] || !s.Applies(i) {
			continue
		}
		asked[i.Ref] = true
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			e := s.look(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			all[i.Ref] = []fleet.Evidence{e}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err // who was cut off says nothing of the instance
	}
	return all, nil
}

// Close closes idle connections.
func (s *Source) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

func (s *Source) look(ctx context.Context, i fleet.Instance) fleet.Evidence {
	e := fleet.Evidence{
		Source: s.Name(), SeenAt: s.o.Now(), Boot: i.Boot, FreshFor: 2*s.o.Every + s.o.Timeout, Outside: true,
	}
	if _, err := s.o.Match(i); err != nil {
		e.Reason = fleet.Because(ReasonMatch, fleet.Values{"why": fleet.Text(s.short(err.Error()))})
		return e
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	ask, question := s.run, s.o.Command
	if s.o.URL != nil {
		ask, question = s.get, s.o.URL
	}
	text, why := question.About(i)
	if !why.IsZero() {
		e.Reason = why
		return e
	}
	e.Activity, e.Reason = ask(ctx, i.Ref, text)
	return e
}

func (s *Source) timedOut() fleet.Reason {
	return fleet.Because(ReasonTimeout, fleet.Values{"timeout": fleet.Span(s.o.Timeout)})
}

func (s *Source) failed(err error) fleet.Reason {
	return fleet.Because(ReasonFailed, fleet.Values{"error": fleet.Text(s.short(s.redact.Error(err).Error()))})
}

// short makes one line of what somebody else wrote, with no secret in it.
func (s *Source) short(text string) string { return look.Short(s.redact.String(text)) }
