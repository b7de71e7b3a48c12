package alertmanager_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
)

// real is an Alertmanager of Debian's, and what it posts to its receiver.
type real struct {
	url   string
	posts chan []byte
}

// startReal starts an Alertmanager that asks for a password, keeps severities apart as
// people route by them, and tells its receiver after a tenth of a second.
func startReal(t *testing.T) real {
	t.Helper()
	path, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("prometheus-alertmanager is not installed")
		}
		t.Skip("prometheus-alertmanager is not installed")
	}
	r := real{posts: make(chan []byte, 100)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.posts <- body
	}))
	t.Cleanup(receiver.Close)
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, words string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	config := write("am.yml", "route: {receiver: hook, group_by: [alertname, thread, severity], group_wait: 100ms, group_interval: 100ms, repeat_interval: 1h}\n"+
		"receivers: [{name: hook, webhook_configs: [{url: \""+receiver.URL+"\", send_resolved: true}]}]\n")
	web := write("web.yml", "basic_auth_users: {ops: '"+string(hash)+"'}\n")
	p := exec.Command(path, "--config.file="+config, "--web.config.file="+web, "--storage.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=", "--log.level=info")
	log, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended, address := make(chan struct{}), make(chan string, 1)
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = p.Process.Kill()
			<-ended
			t.Error("the Alertmanager did not end in half a minute")
		}
	})
	var lines []string
	go func() {
		defer close(ended)
		for in := bufio.NewScanner(log); in.Scan(); {
			lines = append(lines, in.Text())
			if _, rest, ok := strings.Cut(in.Text(), `msg="Listening on" address=`); ok {
				address <- strings.TrimSpace(rest)
			}
		}
		_ = p.Wait() // it was stopped by a signal
	}()
	select {
	case at := <-address:
		r.url = "http://" + at
	case <-ended:
		t.Fatalf("the Alertmanager ended:\n%s", strings.Join(lines, "\n"))
	case <-time.After(30 * time.Second):
		t.Fatal("the Alertmanager does not listen after half a minute")
	}
	return r
}

// hears waits for the next thing that the Alertmanager tells its receiver.
func (r real) hears(t *testing.T) payload {
	t.Helper()
	var p payload
	if err := json.Unmarshal(r.post(t), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (r real) post(t *testing.T) []byte {
	t.Helper()
	select {
	case body := <-r.posts:
		return body
	case <-time.After(20 * time.Second):
		t.Fatal("the Alertmanager tells nothing")
	}
	return nil
}

// silent checks that the Alertmanager has nothing more to tell.
func (r real) silent(t *testing.T) {
	t.Helper()
	select {
	case body := <-r.posts:
		t.Errorf("the Alertmanager also tells %s", body)
	case <-time.After(time.Second):
	}
}

// active gives the labels of the alerts that fire.
func (r real) active(t *testing.T) []map[string]string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/api/v2/alerts?active=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("ops", password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []struct {
		Labels map[string]string `json:"labels"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, a := range all {
		out = append(out, a.Labels)
	}
	return out
}

// A real Alertmanager tells of what opens, of its end, and of nothing else.
func TestARealAlertmanager(t *testing.T) {
	r := startReal(t)
	o := options("alerts", r.url)
	o.Now = time.Now
	c := open(t, o)
	send := func(n notify.Notice) {
		t.Helper()
		n.At = time.Now()
		if v := c.Send(t.Context(), told(t, text.Chinese, n)); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	}
	tells := func(status, name, severity string) payload {
		t.Helper()
		p := r.hears(t)
		if p.Status != status || len(p.Alerts) != 1 || p.CommonLabels["alertname"] != name || p.CommonLabels["severity"] != severity {
			t.Fatalf("told %+v, want %s %s %s", p, status, name, severity)
		}
		return p
	}
	send(act(notify.EventPending, fleet.Warning, 0))
	opening := tells("firing", "CurfewAct", "warning")
	if a := opening.Alerts[0]; a.Annotations["owner"] != "wang" || !strings.Contains(a.Annotations["summary"], "exp-7") || !a.EndsAt.IsZero() {
		t.Errorf("alert %+v", a)
	}
	send(act(notify.EventPending, fleet.Warning, 0)) // sent twice, told once
	r.silent(t)
	if now := r.active(t); len(now) != 1 || now[0]["subject"] != "autodl:42/instance/pro-0a1b2c" {
		t.Errorf("active: %v", now)
	}
	send(act(notify.EventDone, fleet.Info, 0))
	if end := tells("resolved", "CurfewAct", "warning"); end.Alerts[0].Fingerprint != opening.Alerts[0].Fingerprint {
		t.Errorf("another alert has ended: %+v", end)
	}
	send(finding(notify.EventFinding, fleet.Critical))
	tells("firing", "CurfewFinding", "critical")
	send(finding(notify.EventResolved, fleet.Info))
	tells("resolved", "CurfewFinding", "critical")
	send(finding(notify.EventFinding, fleet.Critical)) // and it can open again
	tells("firing", "CurfewFinding", "critical")
	r.silent(t)
	send(finding(notify.EventResolved, fleet.Info))
	tells("resolved", "CurfewFinding", "critical")
	r.silent(t)
	if now := r.active(t); len(now) != 0 {
		t.Errorf("active: %v", now)
	}
}

// What curfew posts to a receiver of webhooks is what a real Alertmanager posts of the
// same alert: the same keys, and the same values where they are not its own.
func TestTheWebhookOfARealAlertmanager(t *testing.T) {
	r := startReal(t)
	o := options("alerts", r.url)
	o.Now = time.Now
	n := act(notify.EventPending, fleet.Warning, 0)
	n.At = time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	m := told(t, text.English, n)
	if v := open(t, o).Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Fatalf("verdict %+v", v)
	}
	var theirs, ours map[string]any
	if err := json.Unmarshal(r.post(t), &theirs); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(posted(t, "webhook", m)), &ours); err != nil {
		t.Fatal(err)
	}
	same := func(at string, theirs, ours any) {
		a, _ := json.Marshal(theirs)
		b, _ := json.Marshal(ours)
		if string(a) != string(b) {
			t.Errorf("%s: an Alertmanager says %s, curfew %s", at, a, b)
		}
	}
	keys := func(of any) []string {
		all, _ := of.(map[string]any)
		return slices.Sorted(maps.Keys(all))
	}
	first := func(of map[string]any) map[string]any {
		all, _ := of["alerts"].([]any)
		one, _ := all[0].(map[string]any)
		return one
	}
	same("the keys", keys(theirs), keys(ours))
	same("the keys of an alert", keys(first(theirs)), keys(first(ours)))
	for _, key := range []string{"status", "version", "truncatedAlerts", "commonLabels", "commonAnnotations"} {
		same(key, theirs[key], ours[key])
	}
	for _, key := range []string{"status", "labels", "annotations", "endsAt", "generatorURL"} {
		same("alert "+key, first(theirs)[key], first(ours)[key])
	}
}

func TestARealAlertmanagerRefusesAWrongPassword(t *testing.T) {
	r := startReal(t)
	o := options("alerts", r.url)
	o.Credential = map[string]string{"password": "wrong"}
	if v := open(t, o).Send(t.Context(), told(t, text.English, act(notify.EventPending, fleet.Warning, 0))); v.Kind != notify.VerdictPermanent || v.Code != "http 401" {
		t.Errorf("verdict %+v", v)
	}
	o = options("alerts", r.url+"/not/its/prefix")
	if v := open(t, o).Send(t.Context(), told(t, text.English, act(notify.EventPending, fleet.Warning, 0))); v.Kind != notify.VerdictUnknown || v.Code != "http 404" {
		t.Errorf("verdict %+v", v)
	}
}
