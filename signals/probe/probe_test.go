package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/signals/probe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func all(fleet.Instance) (bool, error) { return true, nil }

func instance(id string) fleet.Instance {
	return fleet.Instance{
		Ref: fleet.Ref{Account: "autodl:1", Kind: fleet.KindInstance, ID: id}, Boot: "b1", State: fleet.StateRunning,
		AccountName: "lab", Name: "infer-" + id, Region: "west", Labels: map[string]string{"job": "j-" + id},
	}
}

func command(t *testing.T, text string) *probe.Question {
	t.Helper()
	q, err := probe.ParseCommand(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func url(t *testing.T, text string) *probe.Question {
	t.Helper()
	q, err := probe.ParseURL(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func source(t *testing.T, o probe.Options) *probe.Source {
	t.Helper()
	o.Name = "queue"
	if o.Match == nil {
		o.Match = all
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := probe.New(o)
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

// look asks about one instance and checks what every evidence must be.
func look(t *testing.T, s *probe.Source, i fleet.Instance) fleet.Evidence {
	t.Helper()
	began := time.Now()
	seen, err := s.Look(t.Context(), []fleet.Instance{i})
	if err != nil || len(seen) != 1 || len(seen[i.Ref]) != 1 {
		t.Fatalf("Look gave %d answers, %v", len(seen), err)
	}
	e := seen[i.Ref][0]
	if e.Source != "probe:queue" || s.Name() != e.Source || e.Boot != i.Boot || !e.Outside || e.Facts.Reached || e.Reason.IsZero() ||
		e.SeenAt.Before(began.Add(-time.Second)) || e.FreshFor == 0 {
		t.Errorf("evidence %+v", e)
	}
	return e
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

func TestItIsAboutWhatItMatches(t *testing.T) {
	s := source(t, probe.Options{Command: command(t, "echo idle {{.ID}}"), Every: time.Minute, Match: func(i fleet.Instance) (bool, error) {
		if i.Name == "" {
			return false, errors.New("name could not be read")
		}
		return i.Name == "infer-a", nil
	}})
	a, b, unread := instance("a"), instance("b"), instance("c")
	unread.Name = ""
	if !s.Applies(a) || s.Applies(b) || !s.Applies(unread) {
		t.Error("it applies to another instance, or not to its own")
	}
	seen, err := s.Look(t.Context(), []fleet.Instance{a, b, unread, a})
	if err != nil || len(seen) != 2 || len(seen[a.Ref]) != 1 {
		t.Fatalf("%d answers, %v", len(seen), err)
	}
	if e := seen[a.Ref][0]; e.Activity != fleet.Idle || e.FreshFor != 2*time.Minute+10*time.Second {
		t.Errorf("a: %+v", e)
	}
	if e := seen[unread.Ref][0]; e.Activity != fleet.Unknown || e.Reason.Code != probe.ReasonMatch {
		t.Errorf("what may not be meant got %s, %s", e.Activity, e.Reason.Code)
	}
}

func TestEightAreAskedAboutAtOnce(t *testing.T) {
	const many = 20
	now, peak := make(chan int, 1), 0
	now <- 0
	full := make(chan struct{})
	s := source(t, probe.Options{URL: url(t, "http://h/{{.ID}}"), Transport: asked(func(*http.Request) (*http.Response, error) {
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

// asked is a transport made of a function.
type asked func(*http.Request) (*http.Response, error)

func (f asked) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestALookThatIsCutOffSaysNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := source(t, probe.Options{URL: url(t, "http://h/"), Transport: asked(func(r *http.Request) (*http.Response, error) {
		cancel()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})})
	seen, err := s.Look(ctx, []fleet.Instance{instance("a"), instance("b")})
	if !errors.Is(err, context.Canceled) || len(seen) != 0 {
		t.Errorf("%d answers, %v", len(seen), err)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	good := probe.Options{Name: "q", Match: all, Now: time.Now, Command: command(t, "echo idle")}
	for what, spoil := range map[string]func(*probe.Options){
		"no name":                func(o *probe.Options) { o.Name = "" },
		"no match":               func(o *probe.Options) { o.Match = nil },
		"no clock":               func(o *probe.Options) { o.Now = nil },
		"nobody to ask":          func(o *probe.Options) { o.Command = nil },
		"two to ask":             func(o *probe.Options) { o.URL, o.Transport = url(t, "http://h"), asked(nil) },
		"a URL without a way to": func(o *probe.Options) { o.URL, o.Command = url(t, "http://h"), nil },
	} {
		o := good
		spoil(&o)
		if _, err := probe.New(o); err == nil {
			t.Errorf("%s: a probe was made", what)
		}
	}
	if s := source(t, good); s.Required() {
		t.Error("its word is required although nobody said so")
	}
}
