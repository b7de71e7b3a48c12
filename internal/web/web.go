// Package web serves the page on which people answer announcements that reached them
// where there are no buttons. A link in a message leads to it. Opening a link shows
// what would be done and does nothing, however often and by whomever it is opened:
// chats preview links, and scanners of mail follow them. Only the form on the page
// acts, and it comes from the page alone.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/time/rate"

	"curfew/fleet"
	"curfew/internal/text"
)

//go:embed page.html page.css
var assets embed.FS

// The reasons that pages give of themselves.
const (
	reasonHint    fleet.Code = "web.hint"
	reasonBusy    fleet.Code = "web.busy"
	reasonStale   fleet.Code = "web.stale"
	reasonForeign fleet.Code = "web.foreign"
	reasonFailed  fleet.Code = "web.failed"
	reasonMethod  fleet.Code = "web.method"
)

// name is the title of pages that tell of nothing in particular.
const name = "curfew"

// LinkPath begins the path of every link: what follows is its value.
const LinkPath = "/a/"

// How many requests are answered in the long run and at once. All come from people,
// what previews their messages, and those who guess.
const (
	perSecond = 20
	atOnce    = 100
	// maxForm is the most bytes that a form may hold.
	maxForm = 4 << 10
	// formLasts is for how long a page that was opened may act.
	formLasts = 30 * time.Minute
)

// Page is what a link leads to, in the reader's language.
type Page struct {
	Status int // of the answer
	Title  string
	Said   string   // what came of it, or why there is nothing to do
	Lines  []string // what is known of the act
	Label  string   // of the button; empty: there is nothing to press
	Risky  bool
}

// Link answers for one value of a link: it shows or does what the value stands for.
type Link func(r *http.Request, value string, lang text.Language) (Page, error)

// Options is what a page is made of.
type Options struct {
	// Show says what would be done and changes nothing, and Act does it.
	Show, Act Link
	// Say puts words into a language.
	Say func(lang text.Language, r fleet.Reason) string
	// Language is that of readers who understand none of ours.
	Language func() text.Language
	// Address is where people reach the page, if that is known.
	Address func() string
	// Token is what must be shown for anything but links; empty: nothing need be.
	Token func() string
	// Key is a secret of which forms are made.
	Key string
	Now func() time.Time
}

// server serves the page.
type server struct {
	o      Options
	page   *template.Template
	style  template.CSS
	policy string // what browsers may load and send
	limit  *rate.Limiter
	known  language.Matcher
}

// NewHandler makes the page.
func NewHandler(o Options) (http.Handler, error) {
	page, err := template.ParseFS(assets, "page.html")
	if err != nil {
		return nil, err
	}
	css, err := assets.ReadFile("page.css")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(css)
	s := &server{
		o: o, page: page, style: template.CSS(css), limit: rate.NewLimiter(perSecond, atOnce),
		known: language.NewMatcher([]language.Tag{language.English, language.Chinese}),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET "+LinkPath+"{value}", s.show)
	mux.HandleFunc("HEAD "+LinkPath+"{value}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST "+LinkPath+"{value}", s.act)
	mux.HandleFunc(LinkPath+"{value}", s.otherwise)
	mux.HandleFunc("/", s.elsewhere)
	return s.guarded(mux), nil
}

// guarded bounds the rate, and says of every answer what browsers, caches and search
// engines must not do with it.
func (s *server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // an address is a key: it goes nowhere else
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
		if r.URL.Path != "/healthz" && !s.limit.AllowN(s.o.Now(), 1) {
			h.Set("Retry-After", "5")
			s.tell(w, r, http.StatusTooManyRequests, reasonBusy)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) show(w http.ResponseWriter, r *http.Request) {
	p, err := s.o.Show(r, r.PathValue("value"), s.language(r))
	s.answer(w, r, p, err)
}

// act does what the value stands for, once the form is known to come from the page.
func (s *server) act(w http.ResponseWriter, r *http.Request) {
	value := r.PathValue("value")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	switch {
	case s.foreign(r):
		s.tell(w, r, http.StatusForbidden, reasonForeign)
	case !s.fits(r.PostFormValue("form"), value):
		p, err := s.o.Show(r, value, s.language(r)) // which can be sent at once
		if err == nil && p.Label != "" {
			p.Status, p.Said = http.StatusForbidden, s.say(r, reasonStale)
		}
		s.answer(w, r, p, err)
	default:
		p, err := s.o.Act(r, value, s.language(r))
		s.answer(w, r, p, err)
	}
}

// foreign reports whether a browser says that another site sent the form.
func (s *server) foreign(r *http.Request) bool {
	check := http.NewCrossOriginProtection()
	if u, err := url.Parse(s.o.Address()); err == nil && u.Host != "" { // a proxy may tell us another host
		if check.AddTrustedOrigin(u.Scheme+"://"+u.Host) != nil {
			return true
		}
	}
	return check.Check(r) != nil
}

func (s *server) otherwise(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", "GET, HEAD, POST")
	s.tell(w, r, http.StatusMethodNotAllowed, reasonMethod)
}

// elsewhere is all that is not there, which only those are told who may know.
func (s *server) elsewhere(w http.ResponseWriter, r *http.Request) {
	if token := s.o.Token(); token != "" && !bears(r, token) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="curfew"`)
		http.Error(w, "a token is needed", http.StatusUnauthorized)
		return
	}
	http.NotFound(w, r)
}

// language is what the reader understands best of what there is.
func (s *server) language(r *http.Request) text.Language {
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if _, n, sure := s.known.Match(tags...); err == nil && len(tags) > 0 && sure != language.No {
		return []text.Language{text.English, text.Chinese}[n]
	}
	return s.o.Language()
}

func (s *server) say(r *http.Request, code fleet.Code) string {
	return s.o.Say(s.language(r), fleet.Because(code, nil))
}

// tell answers with one sentence.
func (s *server) tell(w http.ResponseWriter, r *http.Request, status int, code fleet.Code) {
	s.answer(w, r, Page{Status: status, Title: name, Said: s.say(r, code)}, nil)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, p Page, err error) {
	if err != nil {
		p = Page{Status: http.StatusServiceUnavailable, Title: name, Said: s.say(r, reasonFailed)}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(p.Status)
	_ = s.page.Execute(w, struct { // who has gone away is not told
		Page
		Lang       text.Language
		Style      template.CSS
		Form, Hint string
	}{p, s.language(r), s.style, s.form(r.PathValue("value")), s.say(r, reasonHint)})
}
