// Package prometheus asks a Prometheus, or whatever answers as one does, for a
// figure that tells whether an instance is at work: one query for each instance, or
// one for all whose values are told apart by a label. Above a threshold an instance
// is busy, else it is idle. Anything but one plain number is Unknown: that a figure
// is missing is not that it is zero.
package prometheus

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/internal/look"
	"curfew/signals"
)

// Why Prometheus could not be asked about an instance.
const (
	ReasonMatch   fleet.Code = "prometheus.match"   // whether it is about the instance cannot be told
	ReasonMissing fleet.Code = "prometheus.missing" // the instance lacks what the query names
	ReasonUnread  fleet.Code = "prometheus.unread"  // what the query names could not be read
)

// parallel is how many instances Prometheus is asked about side by side.
const parallel = 8

// Options are the options of a source.
type Options struct {
	Name string // tells it from other sources of its kind; required
	// Match says which instances it is about; required. Of one for which it gives an
	// error nothing is known.
	Match func(i fleet.Instance) (bool, error)
	// URL is where Prometheus is reached, without /api/v1/query; required.
	URL string
	// Query gives the figure; required. It names what is known of an instance and is
	// asked for each, unless there is a Label.
	Query *Query
	// Label is the label that holds an instance's name or id, in the values of a query
	// that is asked once for all; empty: it is asked for each.
	Label     string
	BusyAbove float64       // an instance is busy where its figure is above it
	Every     time.Duration // between two looks; default 1 m
	Timeout   time.Duration // of one query; default 10 s
	Required  bool          // an instance is idle only with its word

	// Header is sent with a query; its values are secret.
	Header    map[string]string
	UserAgent string
	// Transport carries queries; required. Its idle connections are closed with the
	// source.
	Transport http.RoundTripper
	// Secrets gives what must never be shown, beside the values of Header; nil:
	// nothing.
	Secrets func() []string
	Now     func() time.Time // required
}

// Source asks a Prometheus.
type Source struct {
	o      Options
	client *http.Client
	redact *httpx.Redactor
	// called is what the instances of recent looks are called, of all for whom one
	// query is asked: a look at one of them must know whom else a value may be of.
	called map[fleet.Ref]name
}

var _ signals.Outside = (*Source)(nil)

// New makes a source. It asks nothing.
func New(o Options) (*Source, error) {
	switch {
	case o.Name == "" || o.Match == nil || o.Now == nil || o.Transport == nil || o.URL == "" || o.Query == nil:
		return nil, errors.New("a prometheus signal needs Name, Match, URL, Query, Transport and Now")
	case o.Query.Names() == (o.Label != ""):
		return nil, errors.New("a query of a prometheus signal either names the instance, or has a Label that tells instances apart")
	case math.IsNaN(o.BusyAbove) || math.IsInf(o.BusyAbove, 0):
		return nil, errors.New("BusyAbove of a prometheus signal is no number")
	}
	o.Every = cmp.Or(o.Every, time.Minute)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.URL = strings.TrimSuffix(o.URL, "/") + "/api/v1/query"
	s := &Source{o: o, redact: httpx.NewRedactor(o.secrets), called: map[fleet.Ref]name{}}
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

// Name is prometheus: and the name it was given.
func (s *Source) Name() string { return SourceName(s.o.Name) }

// SourceName is what the source of a prometheus signal with a name is called.
func SourceName(signal string) string { return "prometheus:" + signal }

// Applies reports whether the source is about the instance, or may be.
func (s *Source) Applies(i fleet.Instance) bool {
	ok, err := s.o.Match(i)
	return ok || err != nil
}

// Required reports whether an instance is idle only with the source's word.
func (s *Source) Required() bool { return s.o.Required }

// Look asks about every instance that the source is about: for all at once, or for
// several side by side. A query takes at most the time-out.
func (s *Source) Look(ctx context.Context, is []fleet.Instance) (map[fleet.Ref][]fleet.Evidence, error) {
	all := make(map[fleet.Ref][]fleet.Evidence, len(is))
	asked := make(map[fleet.Ref]bool, len(is))
	var about []fleet.Instance
	for _, i := range is {
		if asked[i.Ref] || !s.Applies(i) {
			continue
		}
		asked[i.Ref] = true
		if _, err := s.o.Match(i); err != nil {
			e := s.evidence(i)
			e.Reason = fleet.Because(ReasonMatch, fleet.Values{"why": fleet.Text(s.short(err.Error()))})
			all[i.Ref] = []fleet.Evidence{e}
			continue
		}
		about = append(about, i)
	}
	ask := s.each
	if s.o.Label != "" {
		ask = s.together
	}
	for _, e := range ask(ctx, about) {
		all[e.of] = []fleet.Evidence{e.Evidence}
	}
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

// seen is evidence of one instance.
type seen struct {
	of fleet.Ref
	fleet.Evidence
}

// evidence begins a look at an instance.
func (s *Source) evidence(i fleet.Instance) fleet.Evidence {
	return fleet.Evidence{Source: s.Name(), SeenAt: s.o.Now(), Boot: i.Boot, FreshFor: s.freshFor(), Outside: true}
}

func (s *Source) freshFor() time.Duration { return 2*s.o.Every + s.o.Timeout }

// each asks a query for each instance.
func (s *Source) each(ctx context.Context, is []fleet.Instance) []seen {
	out := make([]seen, len(is))
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for n, i := range is {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			e := s.evidence(i)
			query, why := s.o.Query.about(i)
			if why.IsZero() {
				var samples []sample
				if samples, why = s.ask(ctx, query); why.IsZero() {
					e.Activity, why = s.judge(samples, fleet.Because(ReasonEmpty, nil))
				}
			}
			e.Reason = why
			out[n] = seen{i.Ref, e}
		})
	}
	wg.Wait()
	return out
}

// short makes one line of what somebody else wrote, with no secret in it.
func (s *Source) short(text string) string { return look.Short(s.redact.String(text)) }
