package prometheus_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/signals/prometheus"
)

const token = "s3cr3t-token"

// double is a strict double of a Prometheus: it takes queries as the interface wants
// them, and answers as told.
type double struct {
	t      *testing.T
	answer func(w http.ResponseWriter, r *http.Request)

	mu      sync.Mutex
	queries []string
}

// serve starts the double, and gives what a source needs to ask it.
func (d *double) serve() prometheus.Options {
	d.t.Helper()
	server := httptest.NewServer(d)
	transport := &http.Transport{}
	d.t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return prometheus.Options{
		URL: server.URL + "/team/", Transport: transport, UserAgent: "curfew/test", Header: map[string]string{"Authorization": "Bearer " + token},
	}
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Method != http.MethodPost || r.RequestURI != "/team/api/v1/query" || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		d.t.Errorf("%s %s of %s", r.Method, r.RequestURI, r.Header.Get("Content-Type"))
	}
	if r.UserAgent() != "curfew/test" || r.Header.Get("Accept") != "application/json" || r.Header.Get("Authorization") != "Bearer "+token || r.Header.Get("Idempotency-Key") != "" {
		d.t.Errorf("asked with %v", r.Header)
	}
	if err := r.ParseForm(); err != nil || len(r.PostForm) != 2 || len(r.PostForm["query"]) != 1 || r.PostForm.Get("timeout") != "10s" {
		d.t.Errorf("asked %v, %v", r.PostForm, err)
	}
	d.queries = append(d.queries, r.PostForm.Get("query"))
	d.answer(w, r)
}

// answers writes one answer, in which NOW stands for this moment. No content type is
// none at all.
func answers(status int, kind, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.WriteHeader(status)
		now := fmt.Sprintf("%.3f", float64(time.Now().UnixMilli())/1000)
		_, _ = w.Write([]byte(strings.ReplaceAll(body, "NOW", now)))
	}
}

const js = "application/json"

func result(kind, result string) string {
	return `{"status":"success","data":{"resultType":"` + kind + `","result":` + result + `}}`
}

func vector(lines ...string) func(http.ResponseWriter, *http.Request) {
	return answers(200, js, result("vector", "["+labelled(lines...)+"]"))
}

func TestWhatPrometheusAnswers(t *testing.T) {
	busy, idle, unknown := fleet.Busy, fleet.Idle, fleet.Unknown
	one := func(value string) string { return result("vector", "["+labelled(`{} `+value)+"]") }
	at := func(ago time.Duration) string {
		return result("vector", fmt.Sprintf(`[{"metric":{},"value":[%d,"1"]}]`, time.Now().Add(-ago).Unix()))
	}
	for _, c := range []struct {
		name     string
		status   int
		kind     string
		body     string
		activity fleet.Activity
		told     string
	}{
		{"more than the threshold", 200, js, one("37.5"), busy, "prometheus dcgm gives 37.5, busy above 5"},
		{"a little more", 200, js, one("5.0000000001"), busy, "prometheus dcgm gives 5.0000000001, busy above 5"},
		{"the threshold", 200, js, one("5"), idle, "prometheus dcgm gives 5, idle up to 5"},
		{"less", 200, js, one("0"), idle, "prometheus dcgm gives 0, idle up to 5"},
		{"less than nothing", 200, js, one("-1e-07"), idle, "prometheus dcgm gives -0.0000001, idle up to 5"},
		{"a long number", 200, js, one("66.666666666666671"), busy, "prometheus dcgm gives 66.6667, busy above 5"},
		{"a huge one", 200, js, one("1e+300"), busy, "prometheus dcgm gives 1e+300, busy above 5"},
		{"a scalar", 200, js, result("scalar", `[NOW,"80"]`), busy, "prometheus dcgm gives 80, busy above 5"},
		{"with a charset", 200, js + "; charset=utf-8", one("1"), idle, "prometheus dcgm gives 1, idle up to 5"},
		{"without a type", 200, "", one("1"), idle, "prometheus dcgm gives 1, idle up to 5"},
		{"with what is new to us", 200, js, strings.Replace(one("1"), `{`, `{"infos":["PromQL info"],"warnings":[],`, 1), idle, "prometheus dcgm gives 1, idle up to 5"},
		{"nothing", 200, js, result("vector", "[]"), unknown, "the query gives no value: nothing of that kind is scraped now"},
		{"not a number", 200, js, one("NaN"), unknown, "the value is NaN, which is no number"},
		{"too much to be one", 200, js, one("+Inf"), unknown, "the value is +Inf, which is no number"},
		{"too little to be one", 200, js, one("-Inf"), unknown, "the value is -Inf, which is no number"},
		{"a scalar that is none", 200, js, result("scalar", `[NOW,"NaN"]`), unknown, "the value is NaN, which is no number"},
		{"a value of each card", 200, js, result("vector", "["+labelled(`{"gpu":"0"} 0`, `{"gpu":"1"} 0`)+"]"), unknown, "the query gives 2 values for it where one is needed; max by (…) makes one of them"},
		{"a histogram", 200, js, result("vector", `[{"metric":{},"histogram":[NOW,{"count":"0","sum":"0"}]}]`), unknown, "the query gives a histogram, not a number"},
		{"a range", 200, js, result("matrix", `[{"metric":{},"values":[[NOW,"0"]]}]`), unknown, "the query gives a matrix, not a number"},
		{"a text", 200, js, result("string", `[NOW,"0"]`), unknown, "the query gives a string, not a number"},
		{"another kind of thing", 200, js, result("number", `[NOW,"0"]`), unknown, "this is no answer of Prometheus: "},
		{"an old value", 200, js, at(3 * time.Minute), unknown, "not of now: it comes from a cache, or a clock is wrong"},
		{"one that is not too old", 200, js, at(2 * time.Minute), idle, "prometheus dcgm gives 1, idle up to 5"},
		{"a value of the future", 200, js, at(-3 * time.Minute), unknown, "not of now: it comes from a cache, or a clock is wrong"},
		{"a value of no time", 200, js, result("vector", `[{"metric":{},"value":[1e300,"0"]}]`), unknown, "this is no answer of Prometheus: "},
		{"a warning", 200, js, strings.Replace(one("0"), `{`, `{"warnings":["No StoreAPIs matched, asked with `+token+`"],`, 1), unknown, "Prometheus warns that the answer may not be whole: No StoreAPIs matched, asked with <secret>"},
		{"a query that cannot be read", 400, js, `{"status":"error","errorType":"bad_data","error":"1:3: parse error"}`, unknown, "Prometheus answers with an error: 1:3: parse error"},
		{"a query that takes too long", 503, js, `{"status":"error","errorType":"timeout","error":"query timed out"}`, unknown, "Prometheus answers with an error: query timed out"},
		{"an error that is called fine", 200, js, `{"status":"error","error":"no","data":{"resultType":"vector","result":[]}}`, unknown, "Prometheus answers with an error: no"},
		{"a wrong token", 401, "text/plain", "Unauthorized", unknown, "it answers with status 401"},
		{"a wrong token, as JSON", 403, js, `{"message":"no"}`, unknown, "it answers with status 403"},
		{"an answer with another status", 500, js, one("0"), unknown, "it answers with status 500"},
		{"half an answer", 206, js, one("0"), unknown, "it answers with status 206"},
		{"a gateway's page", 502, "text/html", "<html>Bad Gateway", unknown, "it answers with status 502"},
		{"a web page", 200, "text/html", "<html>sign in</html>", unknown, "it answers text/html, which is not JSON"},
		{"a web page that is called JSON", 200, js, "<html>\nsign in", unknown, "this is no answer of Prometheus: <html>"},
		{"a type that is none", 200, "/;", one("0"), unknown, "it answers /;, which is not JSON"},
		{"no word", 200, js, "", unknown, "this is no answer of Prometheus: "},
		{"JSON that breaks off", 200, js, strings.TrimSuffix(one("0"), "}"), unknown, "this is no answer of Prometheus: "},
		{"JSON and more", 200, js, one("0") + "{}", unknown, "this is no answer of Prometheus: "},
		{"JSON of something else", 200, js, `{"activity":"idle"}`, unknown, `this is no answer of Prometheus: {"activity":"idle"}`},
		{"another word for fine", 200, js, strings.Replace(one("0"), "success", "ok", 1), unknown, "this is no answer of Prometheus: "},
		{"no list", 200, js, result("vector", "null"), unknown, "this is no answer of Prometheus: "},
		{"a value without a moment", 200, js, result("vector", `[{"metric":{},"value":["0"]}]`), unknown, "this is no answer of Prometheus: "},
		{"no value", 200, js, result("vector", `[{"metric":{}}]`), unknown, "this is no answer of Prometheus: "},
		{"a value that is null", 200, js, result("vector", `[{"metric":{},"value":[NOW,null]}]`), unknown, "this is no answer of Prometheus: "},
		{"a moment that is null", 200, js, result("vector", `[{"metric":{},"value":[null,"0"]}]`), unknown, "this is no answer of Prometheus: "},
		{"a bare number", 200, js, result("vector", `[{"metric":{},"value":[NOW,0]}]`), unknown, "this is no answer of Prometheus: "},
		{"a word for a number", 200, js, result("scalar", `[NOW,"idle"]`), unknown, "this is no answer of Prometheus: "},
		{"an empty word", 200, js, result("scalar", `[NOW,""]`), unknown, "this is no answer of Prometheus: "},
		{"more than is read", 200, js, one("0") + strings.Repeat(" ", 8<<20), unknown, "the answer is longer than 8 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &double{t: t, answer: answers(c.status, c.kind, c.body)}
			o := d.serve()
			o.Query = query(t, perName)
			e := look(t, source(t, o), instance("a"))["a"]
			if said := told(t, e.Reason); e.Activity != c.activity || !strings.Contains(said, c.told) {
				t.Errorf("got %s: %s\nwant %s: %s", e.Activity, said, c.activity, c.told)
			} else if strings.Contains(said, token) || len([]rune(said)) > 250 {
				t.Errorf("told: %s", said)
			}
			if len(d.queries) != 1 || d.queries[0] != `max(util{host="gpu-a"})` {
				t.Errorf("asked %q", d.queries)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		d := &double{t: t, answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", status) }}
		o := d.serve()
		o.Query = query(t, perName)
		if e := look(t, source(t, o), instance("a"))["a"]; e.Activity != fleet.Unknown || e.Reason.Code != prometheus.ReasonRedirect {
			t.Errorf("%d: %s, %s", status, e.Activity, e.Reason.Code)
		}
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	for name, begin := range map[string]func(w http.ResponseWriter){
		"not at all": func(http.ResponseWriter) {},
		"not to the end": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", js)
			_, _ = w.Write([]byte(`{"status":"success"`))
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm() // only then is it noticed that nobody waits any more
				begin(w)
				<-r.Context().Done()
			}))
			defer server.Close()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			s := source(t, prometheus.Options{URL: server.URL, Query: query(t, "util"), Label: "host", Transport: transport, Timeout: time.Second})
			began := time.Now()
			for id, e := range look(t, s, instance("a"), instance("b")) {
				if e.Activity != fleet.Unknown || told(t, e.Reason) != "no answer within 1s" {
					t.Errorf("%s: got %s: %s", id, e.Activity, told(t, e.Reason))
				}
			}
			if took := time.Since(began); took < time.Second || took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
