package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/signals/prometheus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func all(fleet.Instance) (bool, error) { return true, nil }

func instance(id string) fleet.Instance {
	return fleet.Instance{
		Ref: fleet.Ref{Account: "autodl:1", Kind: fleet.KindInstance, ID: id}, Boot: "b1", State: fleet.StateRunning,
		AccountName: "lab", Name: "gpu-" + id, Region: "west", Labels: map[string]string{"job": "j-" + id},
	}
}

func query(t *testing.T, text string) *prometheus.Query {
	t.Helper()
	q, err := prometheus.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// source makes a source that is busy above 5 where nothing is said.
func source(t *testing.T, o prometheus.Options) *prometheus.Source {
	t.Helper()
	o.Name = "dcgm"
	if o.Match == nil {
		o.Match = all
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BusyAbove == 0 {
		o.BusyAbove = 5
	}
	s, err := prometheus.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// look asks about instances and checks what every evidence must be.
func look(t *testing.T, s *prometheus.Source, is ...fleet.Instance) map[string]fleet.Evidence {
	t.Helper()
	began := time.Now()
	seen, err := s.Look(t.Context(), is)
	if err != nil || len(seen) != len(is) {
		t.Fatalf("Look gave %d answers, %v", len(seen), err)
	}
	out := map[string]fleet.Evidence{}
	for _, i := range is {
		if len(seen[i.Ref]) != 1 {
			t.Fatalf("%s: %d answers", i.Ref.ID, len(seen[i.Ref]))
		}
		e := seen[i.Ref][0]
		if e.Source != "prometheus:dcgm" || s.Name() != e.Source || e.Boot != i.Boot || !e.Outside || e.Facts.Reached || e.Reason.IsZero() ||
			e.SeenAt.Before(began.Add(-2*time.Minute-time.Second)) || e.FreshFor == 0 {
			t.Errorf("evidence %+v", e)
		}
		out[i.Ref.ID] = e
	}
	return out
}

// told renders a reason as people read it.
func told(t *testing.T, r fleet.Reason) string {
	t.Helper()
	render, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return render.Reason(r, time.Now())
}

// asked is a transport made of a function.
type asked func(*http.Request) (*http.Response, error)

func (f asked) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// nobody is a transport that nobody is to use.
func nobody(t *testing.T) asked {
	return func(*http.Request) (*http.Response, error) {
		t.Error("somebody was asked")
		return nil, errors.New("no")
	}
}

const perName = `max(util{host="{{.Name}}"})`

func TestItIsAboutWhatItMatches(t *testing.T) {
	for _, label := range []string{"", "host"} {
		d := &double{t: t, answer: vector(`{"host":"gpu-a"} 1`)}
		o := d.serve()
		o.Query = query(t, perName)
		if o.Label = label; label != "" {
			o.Query = query(t, "util")
		}
		o.Every = time.Minute
		o.Match = func(i fleet.Instance) (bool, error) {
			if i.Name == "" {
				return false, errors.New("name could not be read")
			}
			return i.Name == "gpu-a", nil
		}
		s := source(t, o)
		a, b, unread := instance("a"), instance("b"), instance("c")
		unread.Name = ""
		if !s.Applies(a) || s.Applies(b) || !s.Applies(unread) {
			t.Error("it applies to another instance, or not to its own")
		}
		seen, err := s.Look(t.Context(), []fleet.Instance{a, b, unread, a})
		if err != nil || len(seen) != 2 || len(seen[a.Ref]) != 1 || len(d.queries) != 1 {
			t.Fatalf("%d answers to %d queries, %v", len(seen), len(d.queries), err)
		}
		if e := seen[a.Ref][0]; e.Activity != fleet.Idle || e.FreshFor != 2*time.Minute+10*time.Second {
			t.Errorf("a: %+v", e)
		}
		if e := seen[unread.Ref][0]; e.Activity != fleet.Unknown || e.Reason.Code != prometheus.ReasonMatch {
			t.Errorf("what may not be meant got %s, %s", e.Activity, e.Reason.Code)
		}
		if seen, err := s.Look(t.Context(), []fleet.Instance{b}); err != nil || len(seen) != 0 || len(d.queries) != 1 {
			t.Errorf("about none: %d answers to %d queries, %v", len(seen), len(d.queries), err)
		}
	}
}

func TestEightAreAskedAboutAtOnce(t *testing.T) {
	const many = 20
	now, peak := make(chan int, 1), 0
	now <- 0
	full := make(chan struct{})
	s := source(t, prometheus.Options{URL: "http://h", Query: query(t, perName), Transport: asked(func(*http.Request) (*http.Response, error) {
		n := <-now + 1
		if n > peak {
			peak = n
			if n == 8 {
				close(full)
			}
		}
		now <- n
		<-full // the first ones wait for each other
		n = <-now
		now <- n - 1
		return nil, errors.New("no")
	})})
	var is []fleet.Instance
	for n := range many {
		is = append(is, instance(fmt.Sprint(n)))
	}
	seen, err := s.Look(t.Context(), is)
	if err != nil || len(seen) != many {
		t.Errorf("%d answers, %v", len(seen), err)
	}
	if peak != 8 {
		t.Errorf("%d at once", peak)
	}
}

func TestALookThatIsCutOffSaysNothing(t *testing.T) {
	for label, text := range map[string]string{"": perName, "host": "util"} {
		ctx, cancel := context.WithCancel(t.Context())
		s := source(t, prometheus.Options{URL: "http://h", Query: query(t, text), Label: label, Transport: asked(func(r *http.Request) (*http.Response, error) {
			cancel()
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		seen, err := s.Look(ctx, []fleet.Instance{instance("a"), instance("b")})
		if !errors.Is(err, context.Canceled) || len(seen) != 0 {
			t.Errorf("%s: %d answers, %v", text, len(seen), err)
		}
	}
}

func TestNobodyIsAskedAboutWhatIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		query  string
		change func(i *fleet.Instance)
		told   string
	}{
		"a label that is missing":         {`u{a="{{.Labels.team}}"}`, func(*fleet.Instance) {}, "the query names Labels.team, which this instance does not have"},
		"a label that is empty":           {`u{a=~"{{.Labels.job}}"}`, func(i *fleet.Instance) { i.Labels["job"] = "" }, "the query names Labels.job, which this instance does not have"},
		"no name":                         {`u{a="{{.Name}}"}`, func(i *fleet.Instance) { i.Name = "" }, "the query names Name, which this instance does not have"},
		"labels that could not be read":   {`u{a="{{.Labels.job}}"}`, func(i *fleet.Instance) { i.Unread = []string{"labels"} }, "the query names Labels.job, which could not be read of this instance"},
		"a name that could not be read":   {`u{a="{{.Name}}"}`, func(i *fleet.Instance) { i.Unread = []string{"name"} }, "the query names Name, which could not be read of this instance"},
		"a region that could not be read": {`u{a="{{.Region}}"}`, func(i *fleet.Instance) { i.Unread = []string{"region"} }, "the query names Region, which could not be read of this instance"},
	} {
		t.Run(name, func(t *testing.T) {
			i := instance("a")
			c.change(&i)
			e := look(t, source(t, prometheus.Options{URL: "http://h", Query: query(t, c.query), Transport: nobody(t)}), i)["a"]
			if said := told(t, e.Reason); e.Activity != fleet.Unknown || said != c.told {
				t.Errorf("got %s: %s", e.Activity, said)
			}
		})
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	good := prometheus.Options{Name: "q", Match: all, Now: time.Now, URL: "http://h", Query: query(t, perName), Transport: nobody(t)}
	for what, spoil := range map[string]func(*prometheus.Options){
		"no name":                          func(o *prometheus.Options) { o.Name = "" },
		"no match":                         func(o *prometheus.Options) { o.Match = nil },
		"no clock":                         func(o *prometheus.Options) { o.Now = nil },
		"nobody to ask":                    func(o *prometheus.Options) { o.URL = "" },
		"nothing to ask":                   func(o *prometheus.Options) { o.Query = nil },
		"no way to ask":                    func(o *prometheus.Options) { o.Transport = nil },
		"the same query for each":          func(o *prometheus.Options) { o.Query = query(t, "util") },
		"a label, and a query for each":    func(o *prometheus.Options) { o.Label = "host" },
		"a threshold that nothing exceeds": func(o *prometheus.Options) { o.BusyAbove = math.Inf(1) },
		"a threshold that is no number":    func(o *prometheus.Options) { o.BusyAbove = math.NaN() },
	} {
		o := good
		spoil(&o)
		if _, err := prometheus.New(o); err == nil {
			t.Errorf("%s: a source was made", what)
		}
	}
	if s := source(t, good); s.Required() {
		t.Error("its word is required although nobody said so")
	}
	good.Required = true
	if s := source(t, good); !s.Required() {
		t.Error("its word is not required although somebody said so")
	}
}

// labelled writes a vector: a line for each value, as {"host":"a"} 5.
func labelled(lines ...string) string {
	var values []string
	for _, line := range lines {
		labels, value, _ := strings.Cut(line, "} ")
		values = append(values, fmt.Sprintf(`{"metric":%s},"value":[NOW,%q]}`, labels, value))
	}
	return strings.Join(values, ",")
}
