package probe_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/signals/probe"
)

const token = "s3cr3t-token"

// queue is a strict double of a service: it takes one request, and answers as told.
type queue struct {
	t       *testing.T
	uri     string // as it must be asked for
	answer  func(w http.ResponseWriter, r *http.Request)
	asked   int
	plainly bool // no header is sent
}

func (q *queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.asked++
	if r.Method != http.MethodGet || r.RequestURI != q.uri || r.ContentLength != 0 {
		q.t.Errorf("%s %s with %d bytes; want GET %s", r.Method, r.RequestURI, r.ContentLength, q.uri)
	}
	if got := r.Header.Get("User-Agent"); got != "curfew/test" {
		q.t.Errorf("User-Agent: %s", got)
	}
	if got := r.Header.Values("Authorization"); !q.plainly && (len(got) != 1 || got[0] != "Bearer "+token) {
		q.t.Errorf("Authorization: %q", got)
	}
	q.answer(w, r)
}

// askURL asks a double that answers as told.
func askURL(t *testing.T, path string, i fleet.Instance, q *queue) fleet.Evidence {
	t.Helper()
	q.t = t
	server := httptest.NewServer(q)
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	s := source(t, probe.Options{
		URL: url(t, server.URL+path), Transport: transport, UserAgent: "curfew/test", Timeout: 10 * time.Second,
		Header: map[string]string{"Authorization": "Bearer " + token},
	})
	e := look(t, s, i)
	if q.asked > 1 {
		t.Errorf("it was asked %d times", q.asked)
	}
	if said := told(t, e.Reason); strings.Contains(said, token) || strings.Contains(said, server.URL) || len([]rune(said)) > 250 {
		t.Errorf("told: %s", said)
	}
	return e
}

// answers writes one answer. No content type is none at all.
func answers(status int, kind, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestWhatAURLAnswers(t *testing.T) {
	busy, idle, unknown := fleet.Busy, fleet.Idle, fleet.Unknown
	const plain, js = "text/plain; charset=utf-8", "application/json"
	for _, c := range []struct {
		name     string
		status   int
		kind     string
		body     string
		activity fleet.Activity
		told     string
	}{
		{"busy", 200, plain, "busy", busy, "probe queue says busy"},
		{"idle", 200, plain, "idle\n", idle, "probe queue says idle"},
		{"in any case", 200, "TEXT/PLAIN", "  BuSy ", busy, "probe queue says busy"},
		{"with a reason", 200, plain, "busy 3 jobs wait\nand more", busy, "probe queue says busy: 3 jobs wait"},
		{"without a type", 200, "", "idle", idle, "probe queue says idle"},
		{"with a mark before", 200, plain, "\ufeffidle", idle, "probe queue says idle"},
		{"as JSON", 200, js, `{"activity": "busy", "why": "3 jobs wait", "jobs": 3}`, busy, "probe queue says busy: 3 jobs wait"},
		{"as JSON that is called text", 200, plain, `{"activity": "Idle"}`, idle, "probe queue says idle"},
		{"as JSON of a kind", 200, js + "; charset=utf-8", `{"activity": "idle"}`, idle, "probe queue says idle"},
		{"with a reason that repeats the token", 200, plain, "busy, asked with " + token, unknown, "the answer is neither busy nor idle: busy, asked with <secret>"},
		{"with the token itself", 200, plain, "busy " + token, busy, "probe queue says busy: <secret>"},
		{"another status", 500, plain, "idle", unknown, "it answers with status 500"},
		{"another good status", 206, plain, "idle", unknown, "it answers with status 206"},
		{"not found", 404, plain, "idle", unknown, "it answers with status 404"},
		{"no content", 204, "", "", unknown, "the answer is empty"},
		{"nothing", 200, plain, "", unknown, "the answer is empty"},
		{"blanks", 200, plain, " \r\n\t", unknown, "the answer is empty"},
		{"another word", 200, plain, "idling", unknown, "the answer is neither busy nor idle: idling"},
		{"a word before it", 200, plain, "not idle", unknown, "the answer is neither busy nor idle: not idle"},
		{"both", 200, plain, "idle queue-a\nbusy queue-b", unknown, "the answer says busy and idle at once"},
		{"a number", 200, plain, "0", unknown, "the answer is neither busy nor idle: 0"},
		{"a web page", 200, "text/html", "idle", unknown, "it answers text/html, which is neither plain text nor JSON"},
		{"a web page that is called text", 200, plain, "<html>idle</html>", unknown, "the answer is neither busy nor idle: <html>idle</html>"},
		{"a type that is none", 200, "/;", "idle", unknown, "it answers /;, which is neither plain text nor JSON"},
		{"JSON without an activity", 200, js, `{"state": "idle"}`, unknown, `the answer is neither busy nor idle: {"state": "idle"}`},
		{"JSON with another one", 200, js, `{"activity": "unknown"}`, unknown, `the answer is neither busy nor idle: {"activity": "unknown"}`},
		{"JSON that breaks off", 200, js, `{"activity": "idle"`, unknown, `the answer is neither busy nor idle: {"activity": "idle"`},
		{"JSON and more", 200, js, `{"activity": "idle"} {}`, unknown, `the answer is neither busy nor idle: {"activity": "idle"} {}`},
		{"JSON of another form", 200, js, `"idle"`, unknown, `the answer is neither busy nor idle: "idle"`},
		{"text that is called JSON", 200, js, `idle`, unknown, `the answer is neither busy nor idle: idle`},
		{"JSON whose reason is none", 200, js, `{"activity": "idle", "why": 3}`, unknown, `the answer is neither busy nor idle: {"activity": "idle", "why": 3}`},
		{"more than is read", 200, plain, "idle" + strings.Repeat(" ", 64<<10), unknown, "the answer is longer than 64 KB"},
		{"all that is read", 200, plain, "idle" + strings.Repeat(" ", 64<<10-4), idle, "probe queue says idle"},
		{"a long complaint", 200, plain, strings.Repeat("no ", 100), unknown, "the answer is neither busy nor idle: " + strings.Repeat("no ", 40) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := askURL(t, "/", instance("a"), &queue{uri: "/", answer: answers(c.status, c.kind, c.body)})
			if said := told(t, e.Reason); e.Activity != c.activity || said != c.told {
				t.Errorf("got %s: %s\nwant %s: %s", e.Activity, said, c.activity, c.told)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		e := askURL(t, "/", instance("a"), &queue{uri: "/", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/idle", status)
		}})
		if e.Activity != fleet.Unknown || e.Reason.Code != probe.ReasonRedirect {
			t.Errorf("%d: %s, %s", status, e.Activity, e.Reason.Code)
		}
	}
}

func TestWhatIsAskedStaysInItsPlace(t *testing.T) {
	i := instance("a/b?c=d&e#f g+h%41;\"'")
	i.Name, i.Labels["job"] = "../admin", "实验 1\r\nX-Evil: 1"
	e := askURL(t, "/state/{{.Name}}?id={{.ID}}&job={{.Labels.job}}&r={{ .Region }}{{.Account}}{{index .Labels \"job\"}}", i, &queue{
		uri: "/state/..%2Fadmin?id=a%2Fb%3Fc%3Dd%26e%23f%20g%2Bh%2541%3B%22%27&job=%E5%AE%9E%E9%AA%8C%201%0D%0AX-Evil%3A%201&r=westlab" +
			"%E5%AE%9E%E9%AA%8C%201%0D%0AX-Evil%3A%201",
		answer: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Evil") != "" || r.URL.Query().Get("id") != i.Ref.ID || r.URL.Query().Get("job") != i.Labels["job"] {
				t.Errorf("asked with %v, %v", r.URL.Query(), r.Header)
			}
			answers(200, "text/plain", "idle")(w, r)
		},
	})
	if e.Activity != fleet.Idle {
		t.Errorf("got %s: %s", e.Activity, told(t, e.Reason))
	}
}

func TestNobodyIsAskedAboutWhatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		name, path string
		change     func(i *fleet.Instance)
		told       string
	}{
		{"a label that is missing", "/{{.Labels.team}}", func(*fleet.Instance) {}, "the question names Labels.team, which this instance does not have"},
		{"a label that is empty", "/{{.Labels.job}}", func(i *fleet.Instance) { i.Labels["job"] = "" }, "the question names Labels.job, which this instance does not have"},
		{"no name", "/{{.Name}}", func(i *fleet.Instance) { i.Name = "" }, "the question names Name, which this instance does not have"},
		{"labels that could not be read", "/{{.Labels.job}}", func(i *fleet.Instance) { i.Unread = []string{"labels"} }, "the question names Labels.job, which could not be read of this instance"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := instance("a")
			c.change(&i)
			q := &queue{answer: answers(200, "text/plain", "idle")}
			e := askURL(t, c.path, i, q)
			if said := told(t, e.Reason); e.Activity != fleet.Unknown || said != c.told || q.asked != 0 {
				t.Errorf("asked %d times, got %s: %s", q.asked, e.Activity, said)
			}
		})
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	for name, begin := range map[string]func(w http.ResponseWriter){
		"not at all": func(http.ResponseWriter) {},
		"not to the end": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte("idle\n"))
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begin(w)
				<-r.Context().Done()
			}))
			defer server.Close()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			s := source(t, probe.Options{URL: url(t, server.URL), Transport: transport, Timeout: time.Second})
			began := time.Now()
			e := look(t, s, instance("a"))
			if took := time.Since(began); took < time.Second || took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			if e.Activity != fleet.Unknown || told(t, e.Reason) != "no answer within 1s" {
				t.Errorf("got %s: %s", e.Activity, told(t, e.Reason))
			}
		})
	}
}

func TestAServerThatCannotBeTrustedOrReached(t *testing.T) {
	handler := &queue{t: t, uri: "/?token=" + token, plainly: true, answer: answers(200, "text/plain", "idle")}
	server := httptest.NewTLSServer(handler)
	defer server.Close()
	ask := func(address string, transport *http.Transport) fleet.Evidence {
		t.Helper()
		defer transport.CloseIdleConnections()
		return look(t, source(t, probe.Options{URL: url(t, address+"/?token="+token), Transport: transport, UserAgent: "curfew/test"}), instance("a"))
	}
	for name, c := range map[string]struct {
		address string
		says    string
	}{
		"a certificate of nobody": {server.URL, "certificate"},
		"nobody listens":          {"http://127.0.0.1:1", "connection refused"},
	} {
		e := ask(c.address, &http.Transport{})
		said := told(t, e.Reason)
		if e.Activity != fleet.Unknown || e.Reason.Code != probe.ReasonFailed || !strings.Contains(said, c.says) || strings.Contains(said, token) {
			t.Errorf("%s: %s: %s", name, e.Activity, said)
		}
	}
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if e := ask(server.URL, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}); e.Activity != fleet.Idle {
		t.Errorf("one that is trusted: %s: %s", e.Activity, told(t, e.Reason))
	}
	if handler.asked != 1 {
		t.Errorf("it was asked %d times", handler.asked)
	}
}
