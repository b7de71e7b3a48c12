package app

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/signals"
)

// narrow is a source that sees either the machine curfew runs in or the others.
type narrow struct {
	signals.Source
	name string
	here bool
}

func (s narrow) Name() string                  { return s.name }
func (s narrow) Applies(i fleet.Instance) bool { return i.Here == s.here }

func TestOnlySourcesThatApplyAreRequired(t *testing.T) {
	ssh, local := &source{signals: narrow{name: "ssh"}}, &source{signals: narrow{name: "local", here: true}}
	for _, c := range []struct {
		name    string
		sources []*source
		here    bool
		want    []string
	}{
		{"ssh elsewhere", []*source{ssh, local}, false, []string{"ssh"}},
		{"local here", []*source{ssh, local}, true, []string{"local"}},
		{"nobody looks here", []*source{ssh}, true, nil},
		{"nobody looks elsewhere", []*source{local}, false, nil},
		{"all that there are", []*source{ssh}, false, []string{"ssh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := &runtime{sources: c.sources}
			for _, s := range c.sources {
				rt.looks = append(rt.looks, s.signals.Name())
			}
			if got := rt.required(fleet.Instance{Here: c.here}); !slices.Equal(got, c.want) {
				t.Errorf("required are %q, want %q", got, c.want)
			}
		})
	}
}

// TestTheLastNoticeIsWaitedFor says for how long an act that ends curfew waits for
// a channel to take its last notice.
func TestTheLastNoticeIsWaitedFor(t *testing.T) {
	const within = time.Minute
	for _, c := range []struct {
		name string
		to   []store.Address
		kind notify.VerdictKind // after ten seconds
		want time.Duration
	}{
		{"until it is taken", []store.Address{{Channel: "wx"}}, notify.VerdictOK, 10 * time.Second},
		{"until nobody can take it any more", []store.Address{{Channel: "wx"}}, notify.VerdictPermanent, 10 * time.Second},
		{"and no longer than that", []store.Address{{Channel: "wx"}}, notify.VerdictRetry, within},
		{"and not at all where there is no channel", nil, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dsn := "sqlite:" + t.TempDir() + "/curfew.db"
			synctest.Test(t, func(t *testing.T) {
				now := func() time.Time { return time.Now().UTC() }
				s, err := store.Open(t.Context(), store.Options{DSN: dsn, Now: now})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = s.Close() }()
				err = s.Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Enqueue(notify.Notice{Key: "last", At: tx.Now}, c.to, time.Time{})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					time.Sleep(10*time.Second - time.Millisecond)
					ds, err := s.DueDeliveries(context.Background(), now(), 10)
					for _, d := range ds {
						next := time.Time{}
						if c.kind == notify.VerdictRetry {
							next = now().Add(time.Hour)
						}
						err = s.RecordDeliveries(context.Background(), d.Channel, []notify.Outcome{{Delivery: d, Verdict: notify.Verdict{Kind: c.kind}, Next: next}}, true, now())
					}
					if err != nil {
						t.Error(err)
					}
				}()
				a := &App{store: s, clock: sched.Wall{}}
				began := time.Now()
				a.heard(t.Context(), "last", within)
				if took := time.Since(began).Round(time.Second); took != c.want {
					t.Errorf("it waited %s, want %s", took, c.want)
				}
				time.Sleep(2 * within) // the answer is written
			})
		})
	}
}
