package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

const (
	probeHead = "accounts: [{name: a, provider: sim}]\nsignals:\n"
	inside    = "  - {type: sim}\n"
	askedBy   = "  - {type: probe, name: queue, match: {name: \"infer-*\"}, url: \"http://127.0.0.1:9000/state?id={{.ID}}\"}\n"
)

func TestAProbe(t *testing.T) {
	cfg, err := Parse("c.yaml", []byte(probeHead+askedBy+`
  - type: probe
    name: jobs
    match: all
    command: |
      jobs=$(squeue -h -n {{.Labels.job}}) || exit 1
      [ -n "$jobs" ] && echo busy || echo idle
    every: 5m
    timeout: 30s
    required: true
  - {type: probe, name: told, match: {account: a}, url: https://h/x, header: {Authorization: {env: PROBE_TOKEN}, X-Team: {file: team}}}
`), registry())
	if err != nil {
		t.Fatal(err)
	}
	queue, jobs, told := cfg.Signals[0], cfg.Signals[1], cfg.Signals[2]
	if queue.Source() != "probe:queue" || queue.Every != time.Minute || queue.Timeout != 10*time.Second || queue.Required ||
		queue.URL == nil || queue.Command != nil || queue.Header != nil || queue.MatchText != "name infer-*" || queue.BusyAbove != 0 {
		t.Errorf("queue: %+v", queue)
	}
	for name, want := range map[string]bool{"infer-1": true, "exp-1": false} {
		if got, err := queue.Match(fleet.Instance{Name: name}); got != want || err != nil {
			t.Errorf("it is about %s: %v, %v", name, got, err)
		}
	}
	if jobs.Every != 5*time.Minute || jobs.Timeout != 30*time.Second || !jobs.Required || jobs.URL != nil || jobs.Command == nil {
		t.Errorf("jobs: %+v", jobs)
	}
	want := map[string]Secret{"Authorization": {from: secretEnv, name: "PROBE_TOKEN"}, "X-Team": {from: secretFile, name: "team"}}
	if diff := cmp.Diff(want, told.Header, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestProbesThatAreWrittenWrong(t *testing.T) {
	for name, c := range map[string]struct{ keys, says string }{
		"no name":                     {`match: all, url: "http://h"`, `c.yaml:3:5: signals[0]: name is missing; write name: and what you call it`},
		"no match":                    {`name: q, url: "http://h"`, `c.yaml:3:5: signals[0]: match is missing`},
		"a match about nothing":       {`name: q, match: {}, url: "http://h"`, `signals[0].match: is empty`},
		"nobody to ask":               {`name: q, match: all`, `c.yaml:3:5: signals[0]: asks nobody; write url: "http://HOST/PATH?id={{.ID}}", or command:`},
		"two to ask":                  {`name: q, match: all, url: "http://h", command: "echo idle"`, `c.yaml:3:66: signals[0].command: stands beside a url; keep one of the two`},
		"an unknown value":            {`name: q, match: all, url: "http://h/{{.Nam}}"`, `c.yaml:3:45: signals[0].url: {{.Nam}} is not known of an instance; known are {{.ID}}, {{.Name}}`},
		"an unknown value to a shell": {`name: q, match: all, command: "echo {{.Owner}}"`, `c.yaml:3:49: signals[0].command: {{.Owner}} is not known of an instance`},
		"labels without a key":        {`name: q, match: all, url: "http://h/{{.Labels}}"`, `{{.Labels}} is not known of an instance; known are {{.ID}}, {{.Name}}, {{.Account}}, {{.Region}}, {{.Boot}}, {{.Labels.KEY}}`},
		"more than a name":            {`name: q, match: all, url: "http://h/{{if .ID}}x{{end}}"`, `signals[0].url: {{if .ID}}x{{end}} is more than a name; write {{.ID}}`},
		"braces left open":            {`name: q, match: all, url: "http://h/{{.ID}"`, `signals[0].url: what stands in braces cannot be read (line 1: `},
		"no address":                  {`name: q, match: all, url: "h/state"`, `signals[0].url: is not the address of a service; write http://HOST or https://HOST, and a path`},
		"a password in the address":   {`name: q, match: all, url: "http://u:s3cr3t@h/"`, `signals[0].url: holds a password; write header: {Authorization: {env: NAME}}`},
		"a name in place of a host":   {`name: q, match: all, url: "http://{{.Name}}:9000/state"`, `signals[0].url: {{.Name}} is part of the host, and a name must not decide who is asked`},
		"what is never sent":          {`name: q, match: all, url: "http://h/#{{.ID}}"`, `signals[0].url: has a # in it`},
		"a value in single quotes":    {`name: q, match: all, command: "echo '{{.ID}}'"`, `signals[0].command: {{.ID}} stands inside single quotes, into which the shell puts nothing; write it without`},
		"a header for a command":      {`name: q, match: all, command: "echo idle", header: {A: {env: B}}`, `signals[0].header: is sent with a url, and there is none; leave it out`},
		"a header that is a secret":   {`name: q, match: all, url: "http://h", header: {Authorization: s3cr3t}`, `signals[0].header.Authorization: holds a secret in the file itself; write {env: NAME}`},
		"no headers":                  {`name: q, match: all, url: "http://h", header: {}`, `signals[0].header: is empty`},
		"a header that is none":       {`name: q, match: all, url: "http://h", header: {"a b": {env: B}}`, `"a b" is not the name of a header`},
		"another host":                {`name: q, match: all, url: "http://h", header: {host: {env: B}}`, `signals[0].header.host: a request goes to the host that its url names; leave it out`},
		"a limit of cards":            {`name: q, match: all, url: "http://h", busy_above: 5%`, `signals[0].busy_above: is not a known key here`},
		"an act cannot wait so long":  {`name: q, match: all, url: "http://h", timeout: 1m`, `signals[0].timeout: 1m is longer than an act can wait for an answer; write 30s or less`},
		"required is said in a word":  {`name: q, match: all, url: "http://h", required: yes`, `signals[0].required: "yes" is not true or false`},
		"a misspelt key":              {`name: q, match: all, url: "http://h", headers: {A: {env: B}}`, `signals[0].headers: is not a known key here; did you mean header?`},
		"a name that is given twice":  {"name: q, match: all, url: \"http://h\"}\n  - {type: probe, name: q, match: all, url: \"http://h\"", `c.yaml:4:25: signals[1].name: "q" is the name of signals[0] already; give each its own name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(probeHead+"  - {type: probe, "+c.keys+"}\n"), registry())
			problems, ok := errors.AsType[*Problems](err)
			if !ok || len(*problems) != 1 || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got  %v\nwant %s", err, c.says)
			}
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Error("it repeats a secret")
			}
		})
	}
}

func TestWhatRestsOnAProbe(t *testing.T) {
	required := strings.Replace(askedBy, "type: probe", "type: probe, required: true", 1)
	slow := strings.Replace(askedBy, "type: probe", "type: probe, every: 30m", 1)
	const (
		idle     = "policies: [{name: p, type: idle, match: all, for: 1h, then: stop}]\n"
		night    = "policies: [{name: p, type: offhours, match: all, schedule: \"0 2 * * *\", window: 4h, then: stop}]\n"
		training = "policies: [{name: p, type: training, match: all, process: train, then: stop}]\n"
		pinged   = "ping: {listen: \":8421\"}\npolicies: [{name: p, type: training, match: all, then: stop}]\n"
		noRest   = "policies[0]: looks at what instances do, and no signal looks inside an instance; " +
			"add signals: [{type: ssh, key: {file: PATH}}], type: local for the machine curfew runs in, or a probe or prometheus with required: true"
	)
	for name, c := range map[string]struct{ yaml, says string }{
		"its word alone proves no rest":                     {askedBy + idle, noRest},
		"nor may a night rest on it":                        {askedBy + night, noRest},
		"where it is required it is enough":                 {required + idle, ""},
		"and for a night too":                               {required + night, ""},
		"it sees no runs":                                   {required + training, "policies[0]: looks at runs, and no signal looks inside an instance; add signals: [{type: ssh, key: {file: PATH}}], or type: local"},
		"runs that ping are told of by themselves":          {askedBy + pinged, ""},
		"beside a look from inside it may be slow":          {inside + slow + idle, ""},
		"but not where its word is required":                {inside + strings.Replace(slow, "type: probe", "type: probe, required: true", 1) + idle, "policies[0].for: 1h holds too few looks by probe:queue, which looks every 30m; write 2h30m or more"},
		"it has no limits for a policy to stay below":       {inside + askedBy + strings.Replace(idle, "for: 1h", "for: 1h, gpu_below: 5%", 1), ""},
		"those of the look from inside are still looked at": {inside + askedBy + strings.Replace(idle, "for: 1h", "for: 1h, gpu_below: 6%", 1), "policies[0].gpu_below: 6% lies above"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(probeHead+c.yaml), registry())
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got  %v\nwant %s", err, c.says)
			}
		})
	}
}
