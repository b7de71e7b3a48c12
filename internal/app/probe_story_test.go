package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/signals"
	sshsignal "curfew/signals/ssh"
)

// queueFile is what a probe of a story answers: the content of a file beside the
// state, by a command that needs no program but the shell.
type queueFile struct {
	t    *testing.T
	path string
}

// newProbeLab is a lab with a probe, whose further keys are given; inside says
// whether the instances are looked at from inside as well.
func newProbeLab(t *testing.T, keys string, inside bool, more ...string) (*lab, queueFile) {
	t.Helper()
	l := newLab(t, "stop", more...)
	q := queueFile{t, filepath.Join(l.dir, "queue")}
	const sim = "  - {type: sim, every: 30s, timeout: 10s}\n"
	probe := "  - {type: probe, name: queue, match: {name: \"exp-*\"}, every: 1m, command: 'read -r said <" + q.path + "-{{.ID}} && echo $said'" + keys + "}\n"
	if inside {
		probe = sim + probe
	}
	l.yaml = strings.Replace(l.yaml, sim, probe, 1)
	return l, q
}

// says lets the probe answer a line from now on; nothing makes it fail.
func (q queueFile) says(id, line string) {
	q.t.Helper()
	file, err := q.path+"-"+id, error(nil)
	if line == "" {
		err = os.Remove(file)
	} else {
		err = os.WriteFile(file, []byte(line+"\n"), 0o600)
	}
	if err != nil {
		q.t.Fatal(err)
	}
}

func TestABusyProbeKeepsWhatIsIdleInside(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, q := newProbeLab(t, "", true)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.cloud.MustAdd(trained("b", 10*time.Minute, 0))
		q.says("a", "busy 3 jobs wait")
		q.says("b", "idle")
		l.restart()
		l.run(3 * time.Hour)
		l.wantOutcomes("b stop done")
		l.wantActivity("a", fleet.Busy)
		q.says("a", "idle")
		l.run(30 * time.Minute)
		l.wantOutcomes("b stop done", "a stop done")
	})
}

func TestAProbeThatTurnsBusyInTheWarningIsAGroundAgainstIt(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, q := newProbeLab(t, "", true)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		q.says("a", "idle")
		l.restart()
		l.run(20 * time.Minute) // announced
		if is := l.journal(); len(is) != 1 || !is[0].Open() {
			t.Fatalf("the stop is not announced: %+v", is)
		}
		q.says("a", "busy one job")
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop abandoned")
		l.wantActivity("a", fleet.Busy)
	})
}

func TestAnUnknownProbeKeepsWhereItsWordIsRequired(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, q := newProbeLab(t, ", required: true", true)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart() // it fails from the beginning: there is no file
		l.run(3 * time.Hour)
		l.wantOutcomes()
		l.wantActivity("a", fleet.Unknown)
		l.wantTold("Warning: exp-a · nothing was seen inside it", 1)
		q.says("a", "down for maintenance")
		l.run(time.Hour)
		l.wantOutcomes()
		l.wantActivity("a", fleet.Unknown)
		q.says("a", "idle")
		l.run(30 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestAnUnknownProbeHoldsNothingBackWhereItsWordIsNotRequired(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, _ := newProbeLab(t, "", true)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestWhereNobodySeesInsideARequiredProbeIsEnough(t *testing.T) {
	long(t)
	const unused = `
  - {name: unused, type: idle, match: all, for: 30m, then: stop}
`
	inLab(t, func(t *testing.T) {
		l, q := newProbeLab(t, ", required: true", false, unused)
		// The training of the lab is seen by looks from inside, and there are none.
		l.yaml = l.yaml[:strings.Index(l.yaml, "  - name: done")] + unused
		for _, id := range []string{"idle", "works", "fails"} {
			l.cloud.MustAdd(quiet(id))
		}
		elsewhere := quiet("elsewhere")
		elsewhere.Name = "other"
		l.cloud.MustAdd(elsewhere)
		q.says("idle", "idle")
		q.says("works", "busy")
		l.restart()
		l.run(25 * time.Minute)
		l.wantOutcomes()
		l.wantActivity("idle", fleet.Idle)
		l.wantActivity("works", fleet.Busy)
		l.wantActivity("fails", fleet.Unknown)
		l.run(3 * time.Hour)
		l.wantOutcomes("idle stop done")
		if got := l.cloud.State("elsewhere"); got != fleet.StateRunning {
			t.Errorf("one that nobody asks about is %s", got)
		}
		q.says("works", "idle")
		l.run(15 * time.Minute)
		q.says("works", "") // an answer that fails begins the time anew
		l.run(2 * time.Minute)
		q.says("works", "idle")
		l.run(25 * time.Minute)
		l.wantOutcomes("idle stop done")
		l.run(25 * time.Minute)
		l.wantOutcomes("idle stop done", "works stop done")
	})
}

// outsider is a source that sees no instance from inside.
type outsider struct {
	narrow
	required bool
}

func (o outsider) Required() bool { return o.required }

func TestAProbeIsRequiredWhereItSaysSoAndApplies(t *testing.T) {
	ssh := &source{signals: narrow{name: "ssh"}}
	probe := func(required, here bool) *source {
		return &source{signals: outsider{narrow{name: "probe:q", here: here}, required}}
	}
	for _, c := range []struct {
		name    string
		sources []*source
		want    []string
	}{
		{"beside a look", []*source{ssh, probe(true, false)}, []string{"ssh", "probe:q"}},
		{"alone", []*source{probe(true, false)}, []string{"probe:q"}},
		{"about another", []*source{ssh, probe(true, true)}, []string{"ssh"}},
		{"not where it does not say so", []*source{ssh, probe(false, false)}, []string{"ssh"}},
		{"not even alone", []*source{probe(false, false)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := &runtime{sources: c.sources}
			for _, s := range c.sources {
				if signals.Required(s.signals) {
					rt.looks = append(rt.looks, s.signals.Name())
				}
			}
			if got := rt.required(fleet.Instance{}); !slices.Equal(got, c.want) {
				t.Errorf("required are %q, want %q", got, c.want)
			}
		})
	}
}

func TestAProbeIsOpenedWithItsSecrets(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "Bearer hunter2" || r.UserAgent() != "curfew/test" || r.RequestURI != "/state?id=a%26b" {
			t.Errorf("asked for %s by %s with %v", r.RequestURI, r.UserAgent(), r.Header)
		}
		_, _ = w.Write([]byte("busy as hunter2 knows"))
	}))
	defer server.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // which is not for this machine's own
	cfg, err := config.Parse("c.yaml", []byte(`
accounts: [{name: lab, provider: sim, world: w.yaml}]
signals:
  - {type: probe, name: queue, match: {account: lab}, url: "`+server.URL+`/state?id={{.ID}}", header: {Authorization: {env: PROBE_TOKEN}}}
`), (&lab{}).registry())
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{Version: "test", Log: zerolog.Nop(), LookupEnv: func(name string) (string, bool) {
		return map[string]string{"PROBE_TOKEN": "Bearer hunter2"}[name], name == "PROBE_TOKEN"
	}}
	s, err := o.Source(cfg.Signals[0], sshsignal.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	i := fleet.Instance{Ref: fleet.Ref{Account: "sim:1", Kind: fleet.KindInstance, ID: "a&b"}, AccountName: "lab", Boot: "b", State: fleet.StateRunning}
	seen, err := s.Look(t.Context(), []fleet.Instance{i})
	if err != nil || len(seen[i.Ref]) != 1 || asked != 1 {
		t.Fatalf("asked %d times: %v, %v", asked, seen, err)
	}
	if e := seen[i.Ref][0]; e.Activity != fleet.Busy || e.Source != "probe:queue" || e.Reason.Values["why"].Any() != "as <secret> knows" {
		t.Errorf("got %+v", e)
	}

	o.LookupEnv = func(string) (string, bool) { return "", false }
	if _, err := o.Source(cfg.Signals[0], sshsignal.Options{Now: time.Now}); err == nil || !strings.Contains(err.Error(), "PROBE_TOKEN is not set") {
		t.Errorf("without its secret: %v", err)
	}
}
