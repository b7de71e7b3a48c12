package prometheus_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/signals/prometheus"
)

// exporter is a double of the exporters of several machines: a page of figures for
// each, in the form that dcgm-exporter writes.
type exporter struct {
	mu    sync.Mutex
	pages map[string]string // by host; none: it is down
}

// says lets a host's cards have these utilisations from now on; none at all takes the
// host down.
func (x *exporter) says(host string, cards ...float64) {
	var b strings.Builder
	fmt.Fprintln(&b, "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge")
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(host)
	for n, util := range cards {
		fmt.Fprintf(&b, "DCGM_FI_DEV_GPU_UTIL{gpu=\"%d\",UUID=\"GPU-%s-%d\",modelName=\"NVIDIA GeForce RTX 4090\",Hostname=\"%s\"} %v\n", n, escaped, n, escaped, util)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pages[host] = b.String()
	if len(cards) == 0 {
		delete(x.pages, host)
	}
}

func (x *exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := strings.TrimPrefix(r.URL.Path, "/metrics/")
	x.mu.Lock()
	defer x.mu.Unlock()
	page, up := x.pages[host]
	if !up {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(page))
}

// server is a real Prometheus, of Debian's, that reads an exporter.
type server struct {
	t       *testing.T
	url     string
	process *exec.Cmd
	ended   chan struct{}
}

// startReal starts a Prometheus that reads a page of each host ten times a second.
func startReal(t *testing.T, x *exporter, hosts ...string) *server {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("prometheus is not installed")
		}
		t.Skip("prometheus is not installed")
	}
	pages := httptest.NewServer(x)
	t.Cleanup(pages.Close)
	config := "global: {scrape_interval: 100ms, scrape_timeout: 100ms}\nscrape_configs:\n"
	for n, host := range hosts {
		config += fmt.Sprintf("- {job_name: host-%d, metrics_path: %q, static_configs: [{targets: [%q]}]}\n",
			n, "/metrics/"+host, strings.TrimPrefix(pages.URL, "http://"))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, ended: make(chan struct{})}
	s.process = exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0")
	log, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	address := make(chan string, 1)
	var lines []string
	go func() {
		defer close(s.ended)
		for in := bufio.NewScanner(log); in.Scan(); {
			lines = append(lines, in.Text())
			if _, rest, ok := strings.Cut(in.Text(), `msg="Listening on" address=`); ok {
				address <- strings.TrimSpace(rest)
			}
		}
		_ = s.process.Wait() // it was stopped by a signal
	}()
	select {
	case at := <-address:
		s.url = "http://" + at
	case <-s.ended:
		t.Fatalf("prometheus ended:\n%s", strings.Join(lines, "\n"))
	case <-time.After(30 * time.Second):
		t.Fatal("prometheus does not listen after half a minute")
	}
	return s
}

// stop ends the Prometheus, which nobody can ask any more.
func (s *server) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		_ = s.process.Process.Kill()
		<-s.ended
		s.t.Error("prometheus did not end in half a minute")
	}
}

// source asks the Prometheus, or who passes questions on to it.
func (s *server) source(t *testing.T, o prometheus.Options) *prometheus.Source {
	t.Helper()
	if o.URL == "" {
		o.URL = s.url
	}
	o.Transport, o.UserAgent = &http.Transport{}, "curfew/test"
	return source(t, o)
}

// becomes asks about an instance until the answer is the one that is told.
func becomes(t *testing.T, s *prometheus.Source, i fleet.Instance, activity fleet.Activity, says string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		e := look(t, s, i)[i.Ref.ID]
		if said := told(t, e.Reason); e.Activity == activity && strings.Contains(said, says) {
			return
		} else if time.Now().After(until) {
			t.Fatalf("%s is %s: %s\nwant %s: %s", i.Name, e.Activity, said, activity, says)
		}
	}
}

func named(name string) fleet.Instance {
	i := instance(name)
	i.Name = name
	return i
}

const (
	ofEach = `max(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"})`
	ofAll  = `max by (Hostname) (DCGM_FI_DEV_GPU_UTIL)`
)

// One server for all: Prometheus lets five seconds pass before it begins to scrape.
func TestARealPrometheus(t *testing.T) {
	x := &exporter{pages: map[string]string{}}
	x.says("gpu-a", 0, 87)
	x.says("gpu-b", 0, 3)
	x.pages["hostile"] = hostilePage()
	real := startReal(t, x, "gpu-a", "gpu-b", "hostile")
	each := real.source(t, prometheus.Options{Query: query(t, ofEach)})
	together := real.source(t, prometheus.Options{Query: query(t, ofAll), Label: "Hostname"})
	a, b := named("gpu-a"), named("gpu-b")

	for _, s := range []*prometheus.Source{each, together} {
		becomes(t, s, a, fleet.Busy, "prometheus dcgm gives 87, busy above 5")
		becomes(t, s, b, fleet.Idle, "prometheus dcgm gives 3, idle up to 5")
		if seen := look(t, s, a, b); seen["gpu-a"].Activity != fleet.Busy || seen["gpu-b"].Activity != fleet.Idle {
			t.Errorf("both at once: %+v", seen)
		}
	}
	t.Run("other queries", func(t *testing.T) { otherQueries(t, real, a) })
	t.Run("a proxy that wants a token", func(t *testing.T) { behindAProxy(t, real, a) })
	t.Run("hostile names", func(t *testing.T) { hostileNames(t, real) })

	x.says("gpu-a", 0, 0)
	x.says("gpu-b", 5.5, 0)
	becomes(t, each, a, fleet.Idle, "gives 0,")
	becomes(t, together, b, fleet.Busy, "gives 5.5,")

	// The highest value of some minutes, of what is there now.
	lately := real.source(t, prometheus.Options{Query: query(t, `max(max_over_time(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}[5m]) and DCGM_FI_DEV_GPU_UTIL)`)})
	becomes(t, lately, a, fleet.Busy, "gives 87,")

	x.says("gpu-a") // goes down
	becomes(t, each, a, fleet.Unknown, "the query gives no value")
	becomes(t, lately, a, fleet.Unknown, "the query gives no value")
	becomes(t, together, a, fleet.Unknown, "of 1 values none has Hostname equal to gpu-a or its id")
	becomes(t, together, b, fleet.Busy, "gives 5.5,")

	real.stop()
	becomes(t, each, b, fleet.Unknown, "it could not be asked: dial tcp")
	becomes(t, together, b, fleet.Unknown, "it could not be asked: dial tcp")
}

// hostile are names by which somebody tries to be read as PromQL.
func hostile() []string {
	return []string{
		`a"} or vector(0) #`, `a\"} or vector(0) #`, `a\`, `.*`, `a|b`, "a\n\"} or vector(0) #", `实验 1`, `\x41`, `\u0041`, `[a-z]+`,
		`{{.Name}}`, `a\\E.*`, `'`, "`", "a\tb",
	}
}

// hostilePage gives each hostile name a figure of its own.
func hostilePage() string {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for n, name := range hostile() {
		fmt.Fprintf(&b, "util{host=\"%s\"} %d\n", escape.Replace(name), 10+n)
	}
	return b.String() + "util{host=\"other\"} 0\n"
}

// What a name holds is compared with a label and nothing else, whoever reads it.
func hostileNames(t *testing.T, real *server) {
	for _, text := range []string{`util{host="{{.Name}}"}`, `util{host=~"{{.Name}}"}`, `util{host=~"x|{{.Name}}"}`, `util{host=~"(y|{{.Name}})"} or util{host="{{.Name}}"}`} {
		s := real.source(t, prometheus.Options{Query: query(t, text)})
		becomes(t, s, named("other"), fleet.Idle, "gives 0,")
		is, want := []fleet.Instance{named(`b"} or vector(0) #`), named("b\xff")}, map[string]float64{}
		for n, name := range hostile() {
			is, want[name] = append(is, named(name)), float64(10+n)
		}
		for name, e := range look(t, s, is...) {
			figure, there := want[name]
			switch said := told(t, e.Reason); {
			case there && (e.Activity != fleet.Busy || !strings.Contains(said, fmt.Sprintf("gives %v,", figure))):
				t.Errorf("%s of %q is %s: %s; want %v", text, name, e.Activity, said, figure)
			case !there && e.Activity != fleet.Unknown:
				t.Errorf("%s of %q, of which there is nothing, is %s: %s", text, name, e.Activity, said)
			}
		}
	}
}

func otherQueries(t *testing.T, real *server, a fleet.Instance) {
	for name, c := range map[string]struct {
		query    string
		activity fleet.Activity
		told     string
	}{
		"no such metric":              {`max(NO_SUCH_METRIC{Hostname="{{.Name}}"})`, fleet.Unknown, "the query gives no value"},
		"a value of each card":        {`DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}`, fleet.Unknown, "the query gives 2 values for it where one is needed; max by (…) makes one of them"},
		"a scalar":                    {`scalar(max(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}))`, fleet.Busy, "gives 87,"},
		"a scalar of nothing":         {`scalar(NO_SUCH_METRIC{Hostname="{{.Name}}"})`, fleet.Unknown, "the value is NaN, which is no number"},
		"a division by nothing":       {`max(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}) / 0`, fleet.Unknown, "the value is +Inf, which is no number"},
		"the highest of some minutes": {`max(max_over_time(DCGM_FI_DEV_GPU_UTIL{Hostname=~"{{.Name}}.*"}[5m]))`, fleet.Busy, "gives 87,"},
		"a range":                     {`DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}[1m]`, fleet.Unknown, "the query gives a matrix, not a number"},
		"a comparison that is false":  {`max(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}) > 90`, fleet.Unknown, "the query gives no value"},
		"one that gives a number":     {`max(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}) > bool 90`, fleet.Idle, "gives 0,"},
		"a quote in a comment":        {"max(DCGM_FI_DEV_GPU_UTIL{ # don't\n Hostname = # \"\n \"{{.Name}}\"})", fleet.Busy, "gives 87,"},
		"a query that is none":        {`max(DCGM_FI_DEV_GPU_UTIL{Hostname="{{.Name}}"}`, fleet.Unknown, `Prometheus answers with an error: invalid parameter "query": 1:`},
	} {
		t.Run(name, func(t *testing.T) {
			s := real.source(t, prometheus.Options{Query: query(t, c.query)})
			e := look(t, s, a)["gpu-a"]
			if said := told(t, e.Reason); e.Activity != c.activity || !strings.Contains(said, c.told) {
				t.Errorf("got %s: %s\nwant %s: %s", e.Activity, said, c.activity, c.told)
			}
		})
	}
}

func behindAProxy(t *testing.T, real *server, a fleet.Instance) {
	to, err := url.Parse(real.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/team")
		},
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	ask := func(bearer string) fleet.Evidence {
		return look(t, real.source(t, prometheus.Options{
			URL: proxy.URL + "/team", Query: query(t, ofEach), Header: map[string]string{"Authorization": bearer},
		}), a)["gpu-a"]
	}
	if e := ask("Bearer " + token); e.Activity != fleet.Busy {
		t.Errorf("with its token: %s: %s", e.Activity, told(t, e.Reason))
	}
	if e := ask("Bearer wrong"); e.Activity != fleet.Unknown || told(t, e.Reason) != "it answers with status 401" {
		t.Errorf("with a wrong one: %s: %s", e.Activity, told(t, e.Reason))
	}
}
