package autodltest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultKind says how a request fails.
type FaultKind string

// The kinds of faults.
const (
	Refuse     FaultKind = "refuse"      // HTTP 200 with Code and Msg
	RateLimit  FaultKind = "rate limit"  // HTTP 429, with Retry-After where RetryAfter is set
	Status     FaultKind = "status"      // HTTP Status, 502 by default
	HTML       FaultKind = "html"        // HTTP 200 with a page
	Captcha    FaultKind = "captcha"     // HTTP 403 with a page asking for a person
	Truncated  FaultKind = "truncated"   // HTTP 200 with JSON that breaks off; a write takes effect
	EmptyList  FaultKind = "empty list"  // a list without anything in it
	ShortList  FaultKind = "short list"  // a list without its last instance, which the total counts
	DropBefore FaultKind = "drop before" // no answer, no effect
	DropAfter  FaultKind = "drop after"  // no answer, but a write takes effect
	Hang       FaultKind = "hang"        // no answer until the caller gives up; no effect
)

// Fault is one way in which requests fail. The first that matches is used.
type Fault struct {
	Kind FaultKind
	// Paths are the ends of the paths of the requests that fail, such as pro/list;
	// none is all of them.
	Paths      []string
	After      int // let this many pass first
	Times      int // fail this many; zero is all
	Code, Msg  string
	Status     int
	RetryAfter time.Duration
	Reached    func() // called when a request has reached the fault
}

type fault struct {
	Fault
	met int
}

// Fail makes requests fail from now on.
func (c *Cloud) Fail(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, &fault{Fault: f})
}

// Heal ends all faults.
func (c *Cloud) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = nil
}

// fault gives the fault that a request meets.
func (c *Cloud) fault(path string) *Fault {
	var hit *Fault
	for _, f := range c.faults {
		if len(f.Paths) > 0 && !slices.ContainsFunc(f.Paths, func(end string) bool { return strings.HasSuffix(path, end) }) {
			continue
		}
		f.met++
		if hit == nil && f.met > f.After && (f.Times == 0 || f.met <= f.After+f.Times) {
			hit = &f.Fault
		}
	}
	return hit
}

// before answers a request that fails before it is looked at, and reports
// whether it did.
func (c *Cloud) before(w http.ResponseWriter, r *http.Request, f *Fault) bool {
	// Bodies of faults repeat every secret, to see whether one gets through.
	canary := strings.Join(c.secrets(), " ")
	switch f.Kind {
	case Refuse:
		c.say(w, answer{Code: f.Code, Msg: f.Msg + " " + c.token})
	case RateLimit:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
		}
		page(w, http.StatusTooManyRequests, "text/plain", "too many requests "+canary)
	case Status:
		status := f.Status
		if status == 0 {
			status = http.StatusBadGateway
		}
		page(w, status, "text/plain", "out of order "+canary)
	case HTML:
		page(w, http.StatusOK, "text/html; charset=utf-8", "<!doctype html><title>AutoDL</title>"+canary)
	case Captcha:
		page(w, http.StatusForbidden, "text/html; charset=utf-8", "<html>请完成人机验证 "+canary+"</html>")
	case DropBefore:
		drop(w)
	case Hang:
		c.mu.Unlock()
		<-r.Context().Done()
		c.mu.Lock()
	default:
		return false
	}
	return true
}

func page(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, body) // the client may be gone
}

func drop(http.ResponseWriter) { panic(http.ErrAbortHandler) }
