package web

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/text"
)

var update = flag.Bool("update", false, "write the golden pages")

// desk is the other side of the page: it counts what it is asked.
type desk struct {
	t     *testing.T
	h     http.Handler
	mu    sync.Mutex
	shown int
	acts  int
	now   time.Time
	page  Page
	err   error
	token string
	at    string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		t: t, now: time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC), at: "https://curfew.example",
		page: Page{Status: 200, Title: "Will stop <exp>", Lines: []string{"exp · lab", "1.98 CNY/h"}, Label: "Do it now", Risky: true},
	}
	renderers := map[text.Language]*text.Renderer{}
	for _, lang := range []text.Language{text.English, text.Chinese} {
		r, err := text.New(lang, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		renderers[lang] = r
	}
	var err error
	d.h, err = NewHandler(Options{
		Show: func(_ *http.Request, value string, lang text.Language) (Page, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.shown++
			return d.in(value, lang), d.err
		},
		Act: func(_ *http.Request, value string, _ text.Language) (Page, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.acts++
			return Page{Status: 200, Title: "Will stop", Said: "done " + value}, d.err
		},
		Say:      func(lang text.Language, r fleet.Reason) string { return renderers[lang].Reason(r, d.now) },
		Language: func() text.Language { return text.English },
		Address:  func() string { return d.at },
		Token:    func() string { return d.token },
		Key:      "key", Now: func() time.Time { d.mu.Lock(); defer d.mu.Unlock(); return d.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) in(value string, lang text.Language) Page {
	p := d.page
	if value == "over" {
		p.Status, p.Label, p.Said = http.StatusGone, "", "This is over"
	}
	if lang == text.Chinese {
		p.Title, p.Label = "将关机 <exp>", "立即执行"
	}
	return p
}

func (d *desk) pass(t time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(t)
}

// do sends a request as a browser does.
func (d *desk) do(method, target, form string, header ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	var body io.Reader
	if form != "" {
		body = strings.NewReader(url.Values{"form": {form}}.Encode())
	}
	r := httptest.NewRequestWithContext(d.t.Context(), method, target, body)
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for n := 0; n+1 < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	return w
}

// form opens a page and gives what its form holds.
func (d *desk) form(target string) string {
	d.t.Helper()
	m := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(d.do("GET", target, "").Body.String())
	if m == nil {
		d.t.Fatal("the page has no form")
	}
	return m[1]
}

func (d *desk) want(shown, acts int) {
	d.t.Helper()
	if d.shown != shown || d.acts != acts {
		d.t.Errorf("shown %d times and done %d times, want %d and %d", d.shown, d.acts, shown, acts)
	}
}

func TestOpeningALinkAThousandTimesDoesNothing(t *testing.T) {
	d := newDesk(t)
	for n := range 1000 {
		d.pass(time.Second)
		agent := []string{"Slackbot-LinkExpanding 1.0", "TelegramBot (like TwitterBot)", "Mozilla/5.0"}[n%3]
		if w := d.do("GET", "/a/v1", "", "User-Agent", agent, "Purpose", "prefetch"); w.Code != 200 {
			t.Fatalf("status %d", w.Code)
		}
	}
	for _, method := range []string{"HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"} {
		w := d.do(method, "/a/v1", "")
		if want := map[string]int{"HEAD": 200}[method]; w.Code != max(want, 405) && w.Code != want {
			t.Errorf("%s: status %d", method, w.Code)
		}
		if method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("HEAD has a body: %s", w.Body)
		}
	}
	d.want(1000, 0)
}

func TestTheFormOfThePageActs(t *testing.T) {
	d := newDesk(t)
	form := d.form("/a/v1")
	w := d.do("POST", "/a/v1", form, "Sec-Fetch-Site", "same-origin")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "done v1") || strings.Contains(w.Body.String(), "<form") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	d.want(1, 1)
}

func TestNoOtherFormActs(t *testing.T) {
	d := newDesk(t)
	form := d.form("/a/v1")
	old := form
	d.pass(31 * time.Minute)
	form = d.form("/a/v1")
	for name, c := range map[string]struct {
		form   string
		header []string
	}{
		"none":                  {"", nil},
		"of another value":      {d.form("/a/v2"), nil},
		"made up":               {strings.Repeat("x", 30), nil},
		"its time changed":      {"zzzzzz" + form[strings.Index(form, "."):], nil},
		"opened too long ago":   {old, nil},
		"sent by another site":  {form, []string{"Sec-Fetch-Site", "cross-site"}},
		"sent by a sister site": {form, []string{"Sec-Fetch-Site", "same-site"}},
		"from another origin":   {form, []string{"Origin", "https://evil.example"}},
		"too long":              {strings.Repeat("x", 5000), nil},
	} {
		w := d.do("POST", "/a/v1", c.form, c.header...)
		if w.Code != http.StatusForbidden || d.acts != 0 {
			t.Errorf("%s: status %d, done %d times", name, w.Code, d.acts)
		}
	}
	// Through a proxy that tells us another host, the page's own origin is right.
	if w := d.do("POST", "/a/v1", form, "Origin", d.at); w.Code != 200 || d.acts != 1 {
		t.Errorf("the page's own form: status %d", w.Code)
	}
}

func TestAPageThatWasOpenTooLongIsShownAnew(t *testing.T) {
	d := newDesk(t)
	form := d.form("/a/v1")
	d.pass(31 * time.Minute)
	w := d.do("POST", "/a/v1", form)
	if !strings.Contains(w.Body.String(), "press once more") || !strings.Contains(w.Body.String(), "<form") {
		t.Errorf("the page is %s", w.Body)
	}
	d.want(2, 0)
	if w := d.do("POST", "/a/over", form); w.Code != http.StatusGone || strings.Contains(w.Body.String(), "<form") {
		t.Errorf("of what is over: status %d: %s", w.Code, w.Body)
	}
}

func TestWhatEveryAnswerForbids(t *testing.T) {
	d := newDesk(t)
	for _, target := range []string{"/a/v1", "/a/over", "/", "/healthz", "/a/", "/robots.txt"} {
		h := d.do("GET", target, "").Header()
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow, noarchive", "X-Frame-Options": "DENY",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", target, name, h.Get(name))
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy %q lacks %s", target, csp, part)
			}
		}
		if strings.Contains(csp, "script") || strings.Contains(csp, "unsafe") || h.Get("Set-Cookie") != "" {
			t.Errorf("%s: policy %q, cookie %q", target, csp, h.Get("Set-Cookie"))
		}
	}
}

// A browser leaves a page's style out where its hash is another.
func TestTheStyleIsTheOneThatIsAllowed(t *testing.T) {
	w := newDesk(t).do("GET", "/a/v1", "")
	m := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatal("the page has no style")
	}
	sum := sha256.Sum256([]byte(m[1]))
	if hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(w.Header().Get("Content-Security-Policy"), hash) {
		t.Errorf("the policy allows no style of hash %s: %s", hash, w.Header().Get("Content-Security-Policy"))
	}
}

func TestLanguages(t *testing.T) {
	d := newDesk(t)
	for accept, want := range map[string]string{
		"":                             "en",
		"fr-FR,fr;q=0.9":               "en",
		"zh-CN,zh;q=0.9,en;q=0.8":      "zh",
		"en-GB,en;q=0.9,zh;q=0.8":      "en",
		"fr, zh-TW;q=0.5":              "zh",
		"; not a language q=zz \u0000": "en",
	} {
		body := d.do("GET", "/a/v1", "", "Accept-Language", accept).Body.String()
		if !strings.Contains(body, `<html lang="`+want+`">`) || strings.Contains(body, "立即执行") != (want == "zh") {
			t.Errorf("%q gives %s", accept, body)
		}
	}
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	d := newDesk(t)
	form := d.form("/a/v1")
	for range atOnce - 1 {
		d.do("GET", "/a/guess", "")
	}
	w := d.do("POST", "/a/v1", form)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "Too many") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if w := d.do("GET", "/healthz", ""); w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("health: %d %q", w.Code, w.Body)
	}
	d.pass(time.Second)
	if w := d.do("POST", "/a/v1", form); w.Code != 200 {
		t.Errorf("a second later: status %d", w.Code)
	}
	d.want(atOnce, 1)
}

func TestWhatFailsIsSaid(t *testing.T) {
	d := newDesk(t)
	form := d.form("/a/v1")
	d.err = errors.New("the disk at /secret/place is full")
	for _, w := range []*httptest.ResponseRecorder{d.do("GET", "/a/v1", ""), d.do("POST", "/a/v1", form)} {
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), "<form") {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
}

func TestTheTokenHidesWhatIsThere(t *testing.T) {
	d := newDesk(t)
	if w := d.do("GET", "/", ""); w.Code != http.StatusNotFound {
		t.Errorf("without a token: %d", w.Code)
	}
	d.token = "s3cret"
	for name, header := range map[string]string{"none": "", "a wrong one": "Bearer s3cre", "of another kind": "Basic s3cret"} {
		if w := d.do("GET", "/", "", "Authorization", header); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := d.do("GET", "/", "", "Authorization", "Bearer s3cret"); w.Code != http.StatusNotFound {
		t.Errorf("the right one: %d", w.Code)
	}
	if w := d.do("GET", "/a/v1", ""); w.Code != 200 {
		t.Errorf("a link needs none: %d", w.Code)
	}
}

func TestPages(t *testing.T) {
	d := newDesk(t)
	for name, get := range map[string]func() *httptest.ResponseRecorder{
		"asked.html":    func() *httptest.ResponseRecorder { return d.do("GET", "/a/v1", "") },
		"asked-zh.html": func() *httptest.ResponseRecorder { return d.do("GET", "/a/v1", "", "Accept-Language", "zh") },
		"over.html":     func() *httptest.ResponseRecorder { return d.do("GET", "/a/over", "") },
	} {
		got := get().Body.String()
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		if strings.Contains(got, "<script") || strings.Contains(got, "http") || strings.Contains(got, "<exp>") {
			t.Errorf("%s loads something or holds what was not escaped", file)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	d := newDesk(t)
	form := d.form("/a/v1")
	var wg sync.WaitGroup
	codes := make(chan int, 50)
	for range 50 {
		wg.Go(func() { codes <- d.do("POST", "/a/v1", form).Code })
	}
	wg.Wait()
	close(codes)
	for code := range codes {
		if code != 200 {
			t.Errorf("status %d", code)
		}
	}
	if d.acts != 50 { // whether it acts once is the other side's to see to
		t.Errorf("done %d times", d.acts)
	}
}
