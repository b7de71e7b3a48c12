package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/signals"
	sshsignal "curfew/signals/ssh"
)

func TestAPrometheusIsOpenedWithItsSecretsAndJudgedByItsFigure(t *testing.T) {
	var asked []string
	figure := "80"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2" || r.UserAgent() != "curfew/test" || r.RequestURI != "/team/api/v1/query" || r.Method != http.MethodPost {
			t.Errorf("asked %s %s by %s with %v", r.Method, r.RequestURI, r.UserAgent(), r.Header)
		}
		asked = append(asked, r.PostFormValue("query"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"node":"exp-a"},"value":[%d,%q]}]}}`, time.Now().Unix(), figure)
	}))
	defer server.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // which is not for this machine's own
	cfg, err := config.Parse("c.yaml", []byte(`
accounts: [{name: lab, provider: sim, world: w.yaml}]
signals:
  - {type: prometheus, name: each, match: {name: "exp-*"}, url: "`+server.URL+`/team/", header: {Authorization: {env: PROMETHEUS}}, query: 'max(u{node="{{.Name}}"})', busy_above: 50}
  - {type: prometheus, name: all, match: all, url: "`+server.URL+`/team", header: {Authorization: {env: PROMETHEUS}}, query: max by (node) (u), label: node, busy_above: 50, required: true}
`), (&lab{}).registry())
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{Version: "test", Log: zerolog.Nop(), LookupEnv: func(name string) (string, bool) {
		return map[string]string{"PROMETHEUS": "Bearer hunter2"}[name], name == "PROMETHEUS"
	}}
	i := fleet.Instance{Ref: fleet.Ref{Account: "sim:1", Kind: fleet.KindInstance, ID: "a"}, Name: "exp-a", AccountName: "lab", Boot: "b", State: fleet.StateRunning}
	for n, required := range []bool{false, true} {
		s, err := o.Source(cfg.Signals[n], sshsignal.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := signals.Required(s); got != required {
			t.Errorf("%s: its word is required: %v", s.Name(), got)
		}
		for value, want := range map[string]fleet.Activity{"80": fleet.Busy, "50": fleet.Idle, "NaN": fleet.Unknown} {
			figure = value
			seen, err := s.Look(t.Context(), []fleet.Instance{i})
			if err != nil || len(seen[i.Ref]) != 1 {
				t.Fatalf("%s: %v, %v", s.Name(), seen, err)
			}
			e := signals.Judge(seen[i.Ref][0], signals.Limits{BusyAbove: cfg.Signals[n].BusyAbove}, nil)
			if e.Activity != want || e.Source != cfg.Signals[n].Source() {
				t.Errorf("%s with %s: %+v", s.Name(), value, e)
			}
		}
	}
	if got := strings.Join(asked, "\n"); got != strings.Repeat(`max(u{node="exp-a"})`+"\n", 3)+strings.TrimSuffix(strings.Repeat("max by (node) (u)\n", 3), "\n") {
		t.Errorf("asked %s", got)
	}

	o.LookupEnv = func(string) (string, bool) { return "", false }
	if _, err := o.Source(cfg.Signals[0], sshsignal.Options{Now: time.Now}); err == nil || !strings.Contains(err.Error(), "PROMETHEUS is not set") {
		t.Errorf("without its secret: %v", err)
	}
}
