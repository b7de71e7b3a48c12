package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAPrometheus(t *testing.T) {
	cfg, err := Parse("c.yaml", []byte(probeHead+`
  - type: prometheus
    name: dcgm
    match: {name: "gpu-*"}
    url: http://127.0.0.1:9090/
    header: {Authorization: {env: PROMETHEUS_AUTHORIZATION}}
    query: max(DCGM_FI_DEV_GPU_UTIL{instance=~"{{.Name}}:.*"})
    busy_above: 5
  - {type: prometheus, name: requests, match: all, url: "https://h/team", query: "sum by (node) (rate(requests[5m]))", label: node, busy_above: 0.5, every: 5m, timeout: 30s, required: true}
`), registry())
	if err != nil {
		t.Fatal(err)
	}
	dcgm, requests := cfg.Signals[0], cfg.Signals[1]
	if dcgm.Source() != "prometheus:dcgm" || dcgm.Every != time.Minute || dcgm.Timeout != 10*time.Second || dcgm.Required ||
		dcgm.Server != "http://127.0.0.1:9090" || !dcgm.Query.Names() || dcgm.Label != "" || dcgm.BusyOver != 5 || dcgm.BusyAbove != 0 || dcgm.MatchText != "name gpu-*" {
		t.Errorf("dcgm: %+v", dcgm)
	}
	want := map[string]Secret{"Authorization": {from: secretEnv, name: "PROMETHEUS_AUTHORIZATION"}}
	if diff := cmp.Diff(want, dcgm.Header, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if requests.Server != "https://h/team" || requests.Query.Names() || requests.Label != "node" || requests.BusyOver != 0.5 ||
		requests.Every != 5*time.Minute || requests.Timeout != 30*time.Second || !requests.Required {
		t.Errorf("requests: %+v", requests)
	}
}

func TestAPrometheusThatIsWrittenWrong(t *testing.T) {
	const (
		rest = `name: q, match: all, url: "http://h", busy_above: 5, `
		each = `query: 'u{a="{{.Name}}"}'`
	)
	for name, c := range map[string]struct{ keys, says string }{
		"no name":                         {`match: all, url: "http://h", busy_above: 5, ` + each, `c.yaml:3:5: signals[0]: name is missing; write name: and what you call it`},
		"no match":                        {`name: q, url: "http://h", busy_above: 5, ` + each, `c.yaml:3:5: signals[0]: match is missing`},
		"nobody to ask":                   {`name: q, match: all, busy_above: 5, ` + each, `c.yaml:3:5: signals[0]: url is missing; write url: http://HOST:9090`},
		"no threshold":                    {`name: q, match: all, url: "http://h", ` + each, `c.yaml:3:5: signals[0]: busy_above is missing; write the number above which it is busy, such as busy_above: 5`},
		"nothing to ask":                  {rest + `every: 1m`, `c.yaml:3:5: signals[0]: query is missing; write query: 'max(`},
		"a query that asks the same":      {rest + `query: max(u)`, `c.yaml:3:84: signals[0].query: is the same for every instance; name the instance in it, as in {hostname="{{.Name}}"}, or write label:`},
		"a label beside a name":           {rest + each + `, label: host`, `signals[0].label: stands beside a query that names the instance; leave it out`},
		"a name outside quotes":           {rest + `query: 'u{a={{.Name}}}'`, `c.yaml:3:84: signals[0].query: {{.Name}} stands outside quotes, where a name would be read as PromQL; write it as in {hostname="{{.Name}}"}`},
		"a value that is not known":       {rest + `query: 'u{a="{{.Host}}"}'`, `signals[0].query: {{.Host}} is not known of an instance; known are {{.ID}}, {{.Name}}, {{.Account}}, {{.Region}}, {{.Labels.KEY}}`},
		"a quote left open":               {rest + `query: 'u{a="{{.Name}}}'`, `signals[0].query: has a quote that is left open; close it`},
		"an empty query":                  {rest + `query: ""`, `signals[0].query: is empty; write a value`},
		"a share":                         {`name: q, match: all, url: "http://h", busy_above: 5%, ` + each, `signals[0].busy_above: "5%" is a share, and a query gives plain numbers; write 5 where the query gives percents`},
		"a threshold below nothing":       {`name: q, match: all, url: "http://h", busy_above: -1, ` + each, `signals[0].busy_above: "-1" is not a number of 0 or more; write one, such as 5`},
		"a threshold that is none":        {`name: q, match: all, url: "http://h", busy_above: .inf, ` + each, `signals[0].busy_above: ".inf" is not a number of 0 or more`},
		"a ratio as if it were percents":  {rest + `query: 'max(nvidia_smi_utilization_gpu_ratio{instance=~"{{.Name}}:.*"})'`, `signals[0].busy_above: lies above what the query can give: a ratio goes from 0 to 1, and nothing would ever be busy above 5; write 0.05, or let the query give percents: 100 * …`},
		"another one":                     {rest + `query: max by (host) (DCGM_FI_PROF_GR_ENGINE_ACTIVE), label: host`, `signals[0].busy_above: lies above what the query can give`},
		"a threshold in a word":           {`name: q, match: all, url: "http://h", busy_above: NaN, ` + each, `signals[0].busy_above: "NaN" is not a number of 0 or more`},
		"an address with the query":       {`name: q, match: all, url: "http://h/api/v1/query", busy_above: 5, ` + each, `signals[0].url: goes as far as the query; leave out /api/v1 and what comes after`},
		"a password in the address":       {`name: q, match: all, url: "http://u:s3cr3t@h", busy_above: 5, ` + each, `signals[0].url: is not the address of a service`},
		"a header that is a secret":       {rest + each + `, header: {Authorization: s3cr3t}`, `signals[0].header.Authorization: holds a secret in the file itself; write {env: NAME}`},
		"a command":                       {rest + each + `, command: "echo idle"`, `signals[0].command: is not a known key here`},
		"an act cannot wait so long":      {rest + each + `, timeout: 1m`, `signals[0].timeout: 1m is longer than an act can wait for an answer; write 30s or less`},
		"a time, which policies have":     {rest + each + `, for: 10m`, `signals[0].for: is not a known key here`},
		"a name that a probe has already": {rest + each + "}\n  - {type: probe, name: q, match: all, url: \"http://h\"", `c.yaml:4:25: signals[1].name: "q" is the name of signals[0] already; give each its own name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(probeHead+"  - {type: prometheus, "+c.keys+"}\n"), registry())
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

func TestWhatRestsOnAPrometheus(t *testing.T) {
	const (
		asked = "  - {type: prometheus, name: dcgm, match: all, url: \"http://h\", query: u, label: host, busy_above: 90}\n"
		idle  = "policies: [{name: p, type: idle, match: all, for: 1h, gpu_below: 5%, then: stop}]\n"
	)
	required := strings.Replace(asked, "busy_above", "required: true, busy_above", 1)
	for name, c := range map[string]struct{ yaml, says string }{
		"its word alone proves no rest":         {asked + idle, "or a probe or prometheus with required: true"},
		"where it is required it is enough":     {required + idle, ""},
		"a ratio that is made percents":         {strings.Replace(required, "query: u", "query: 100 * max by (host) (DCGM_FI_DEV_GPU_UTIL_RATIO)", 1) + idle, ""},
		"a ratio with a threshold below 1":      {strings.Replace(strings.Replace(required, "query: u", "query: max by (host) (u_ratio)", 1), "busy_above: 90", "busy_above: 0.05", 1) + idle, ""},
		"ratios that are added up":              {strings.Replace(required, "query: u", "query: sum by (host) (u_ratio)", 1) + idle, ""},
		"its threshold is no limit of cards":    {inside + asked + idle, ""},
		"it is looked at often enough for that": {strings.Replace(required, "required", "every: 30m, required", 1) + idle, "1h holds too few looks by prometheus:dcgm, which looks every 30m; write 2h30m or more"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(probeHead+c.yaml), registry())
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got  %v\nwant %s", err, c.says)
			}
		})
	}
}
