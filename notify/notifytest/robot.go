package notifytest

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Answer is what a platform answers that puts a code and words into JSON.
type Answer struct {
	Status int // zero: 200
	Code   int
	Msg    string
	Raw    string // instead of code and message
}

// taken reports whether it says that a message was taken.
func (a Answer) taken() bool { return a.Status == 0 && a.Code == 0 && a.Raw == "" }

// Platform is what one kind of group robot does in its own way. M is a message as a
// test looks at it.
type Platform[M any] struct {
	Name string // begins every complaint
	Path string // where a robot is called, a pattern of [path.Match]
	// Query says what is wrong with the parameters of an address, if anything is.
	Query func(u *url.URL) error
	// Judge decides on one request. It gives the message that the robot keeps, or nil.
	Judge func(req *http.Request, body []byte, past Past[M]) (*M, Answer)
	// JSON gives the body of an answer.
	JSON func(a Answer) any
}

// Past is what a robot knows when a request comes in.
type Past[M any] struct {
	Now      time.Time
	Messages []M // those it took, in order of arrival
	at       []time.Time
}

// Within counts the messages that came less than so long ago.
func (p Past[M]) Within(window time.Duration) int {
	n := 0
	for _, at := range p.at {
		if p.Now.Sub(at) < window {
			n++
		}
	}
	return n
}

// Robot is what the strict doubles of group robots have in common: it keeps what it
// took, counts what it did not, and complains of requests that no robot is called by.
// It is an http.Handler, usable without a socket by [Robot.RoundTrip].
type Robot[M any] struct {
	platform Platform[M]
	now      func() time.Time
	fail     func(format string, args ...any)

	mu      sync.Mutex
	taken   []M
	at      []time.Time
	bodies  [][]byte
	answers []Answer
	refused int
}

// NewRobot makes a Robot. fail is told of requests that no correct client sends;
// t.Errorf fits.
func NewRobot[M any](p Platform[M], now func() time.Time, fail func(format string, args ...any)) *Robot[M] {
	return &Robot[M]{platform: p, now: now, fail: fail}
}

// Start runs a robot on this machine until the test ends, and gives its base URL.
func Start(t testing.TB, robot http.Handler) string {
	t.Helper()
	server := httptest.NewServer(robot)
	t.Cleanup(server.Close)
	return server.URL
}

// Messages gives the messages taken so far, in order of arrival.
func (r *Robot[M]) Messages() []M {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// Bodies gives the bodies of the messages taken so far, in order of arrival.
func (r *Robot[M]) Bodies() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bodies)
}

// Refused is how many requests were not taken.
func (r *Robot[M]) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// Answer makes the next requests get these answers, whatever they hold; none of them
// is taken.
func (r *Robot[M]) Answer(answers ...Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, answers...)
}

// RoundTrip answers without a socket, so that a Robot can be an http.Client's
// Transport where time is simulated.
func (r *Robot[M]) RoundTrip(req *http.Request) (*http.Response, error) {
	return served(r, req), nil
}

// ServeHTTP takes one message.
func (r *Robot[M]) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a := r.take(req)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Raw != "" {
		_, _ = io.WriteString(w, a.Raw)
		return
	}
	_ = json.NewEncoder(w).Encode(r.platform.JSON(a))
}

func (r *Robot[M]) take(req *http.Request) Answer {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.fail("%s: read the request: %v", r.platform.Name, err)
	}
	if here, err := path.Match(r.platform.Path, req.URL.Path); req.Method != http.MethodPost || !here {
		r.fail("%s: %s %s is not how it is called: %v", r.platform.Name, req.Method, req.URL.Path, err)
		return Answer{Status: http.StatusNotFound}
	}
	if kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); kind != "application/json" {
		r.fail("%s: content type is %q, want application/json", r.platform.Name, kind)
	}
	if err := r.platform.Query(req.URL); err != nil {
		r.fail("%s: %v", r.platform.Name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answers) > 0 {
		a := r.answers[0]
		r.answers = r.answers[1:]
		r.refused++
		return a
	}
	past := Past[M]{Now: r.now(), Messages: r.taken, at: r.at}
	m, a := r.platform.Judge(req, body, past)
	if m != nil {
		r.taken, r.at, r.bodies = append(r.taken, *m), append(r.at, past.Now), append(r.bodies, body)
	}
	if !a.taken() {
		r.refused++
	}
	return a
}

// Wrong is a request that no correct client sends, and what the double must say of it.
// It is an alias, so that a table can leave the names of its fields out.
type Wrong = struct{ Method, Target, ContentType, Body, Want string }

// Complains sends each wrong request to a double of its own, without a socket, and
// wants the complaint.
func Complains(t *testing.T, double func(fail func(format string, args ...any)) http.RoundTripper, wrong map[string]Wrong) {
	t.Helper()
	for name, c := range wrong {
		t.Run(name, func(t *testing.T) {
			var complaints []string
			Ask(t, double(func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }),
				c.Method, c.Target, c.ContentType, c.Body)
			if got := strings.Join(complaints, "\n"); got == "" || !strings.Contains(got, c.Want) {
				t.Errorf("complaints %q, want %q", got, c.Want)
			}
		})
	}
}

// Ask sends one request to a double, without a socket, and gives the body of its
// answer.
func Ask(t testing.TB, double http.RoundTripper, method, target, contentType, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "https://robot.test"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := double.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
