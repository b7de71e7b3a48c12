package ping

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"curfew/fleet"
)

// The limits of what is taken.
const (
	bodyRead    = 100_000         // of a body, what counts, as with Healthchecks.io
	bodyDrained = 1 << 20         // read and thrown away, so that the client hears the answer
	recordTime  = 8 * time.Second // recipes give up after ten

	perSecond, burst              = 1, 30 // of one key
	strangersPerSecond, strangers = 5, 50 // of all unknown keys together
	keysKept                      = 10_000
)

// Options is what a Handler needs.
type Options struct {
	// Find gives the instance whose pings come under a key.
	Find func(key string) (fleet.Ref, bool)
	// Record makes a ping count. It returns only once the ping would outlive a
	// crash: what it gives no error for is acknowledged.
	Record func(ctx context.Context, ref fleet.Ref, p Ping) error
	Now    func() time.Time
}

// Handler answers pings, and nothing else:
//
//	/ping/KEY        a run succeeded        /ping/KEY/start  one begins
//	/ping/KEY/fail   it failed              /ping/KEY/log    text only
//	/ping/KEY/N      it ended with exit status N, 0 to 255
//
// by HEAD, GET or POST, with ?rid=UUID for runs that go on at the same time. It
// answers 200 once the ping is recorded; 404 to a key that is not known; 400 to an
// id or exit status that is none; 429 where pings come too fast, and 503 where the
// ping could not be recorded: clients repeat both. It may be used from several
// goroutines.
type Handler struct {
	o Options

	mu        sync.Mutex
	limits    map[string]*rate.Limiter // of known keys
	strangers *rate.Limiter
}

var _ http.Handler = (*Handler)(nil)

// NewHandler makes a handler.
func NewHandler(o Options) *Handler {
	return &Handler{o: o, limits: map[string]*rate.Limiter{}, strangers: rate.NewLimiter(strangersPerSecond, strangers)}
}

// ServeHTTP answers one ping.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h.take(r)
	status, says := http.StatusOK, "OK"
	if err != nil {
		status, says = http.StatusServiceUnavailable, "not recorded, try again"
		if refused, ok := errors.AsType[*refusal](err); ok {
			status, says = refused.status, refused.says
		}
	}
	head := w.Header()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-store")
	switch status {
	case http.StatusOK:
		head.Set("Ping-Body-Limit", strconv.Itoa(bodyRead))
	case http.StatusTooManyRequests:
		head.Set("Retry-After", "2")
	case http.StatusServiceUnavailable:
		head.Set("Retry-After", "5") // five tries, as recipes have it, are half a minute
	case http.StatusMethodNotAllowed:
		head.Set("Allow", "HEAD, GET, POST")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, says) // who has gone away is not told
}

// refusal is an answer to a request that is no ping.
type refusal struct {
	status int
	says   string
}

// Error gives what is answered.
func (e *refusal) Error() string { return e.says }

func refuse(status int, says string) error { return &refusal{status, says} }

func (h *Handler) take(r *http.Request) error {
	now := h.o.Now()
	key, what, ok := split(r.URL.Path)
	if !ok {
		return refuse(http.StatusNotFound, "not found")
	}
	switch r.Method {
	case http.MethodHead, http.MethodGet, http.MethodPost:
	default:
		return refuse(http.StatusMethodNotAllowed, "method not allowed")
	}
	ref, known := h.o.Find(key)
	switch {
	case !h.allows(key, known, now):
		return refuse(http.StatusTooManyRequests, "too many pings, try again later")
	case !known:
		return refuse(http.StatusNotFound, "not found")
	}
	p, err := read(what, r)
	if err != nil {
		return err
	}
	p.At = now
	if p.Text, err = text(r.Body); err != nil {
		return refuse(http.StatusBadRequest, "the body cannot be read")
	}
	ctx, cancel := context.WithTimeout(r.Context(), recordTime)
	defer cancel()
	return h.o.Record(ctx, ref, p)
}

// split takes a path apart into the key and what follows it.
func split(path string) (key, what string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/ping/")
	if !ok {
		return "", "", false
	}
	key, what, _ = strings.Cut(rest, "/")
	if key == "" || strings.Contains(what, "/") {
		return "", "", false
	}
	return strings.ToLower(key), what, true
}

// read reads all of a ping but its time and text.
func read(what string, r *http.Request) (Ping, error) {
	var p Ping
	switch what {
	case "":
		p.Kind = End
	case "start":
		p.Kind = Start
	case "fail":
		p.Kind, p.Exit = End, 1
	case "log":
		p.Kind = Log
	default:
		if strings.Trim(what, "0123456789") != "" {
			return p, refuse(http.StatusNotFound, "not found")
		}
		code, err := strconv.ParseUint(what, 10, 8)
		if err != nil {
			return p, refuse(http.StatusBadRequest, "invalid url format")
		}
		p.Kind, p.Exit = End, int(code)
	}
	if q := r.URL.Query(); q.Has("rid") {
		rid := q.Get("rid")
		id, err := uuid.Parse(rid)
		if err != nil || len(rid) != len(id.String()) {
			return p, refuse(http.StatusBadRequest, "invalid url format")
		}
		p.RID = id.String()
	}
	return p, nil
}

// text reads the last part of a body's first part.
func text(body io.Reader) (string, error) {
	said, err := io.ReadAll(io.LimitReader(body, bodyRead))
	if err != nil {
		return "", err
	}
	_, err = io.CopyN(io.Discard, body, bodyDrained)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return last(string(said)), nil
}

// allows reports whether a ping may come now. Keys that are not known share one
// measure, which takes nothing from those that are.
func (h *Handler) allows(key string, known bool, now time.Time) bool {
	if !known {
		return h.strangers.AllowN(now, 1)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	limit, ok := h.limits[key]
	if !ok {
		if len(h.limits) >= keysKept {
			clear(h.limits) // only known keys are kept; who starts anew may ping a little more
		}
		limit = rate.NewLimiter(perSecond, burst)
		h.limits[key] = limit
	}
	return limit.AllowN(now, 1)
}
