package autodltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Serve serves a cloud on the loopback until the test ends, and fails the test
// for each request that broke the protocol. It gives the address.
func Serve(t testing.TB, c *Cloud) string {
	t.Helper()
	s := httptest.NewServer(c)
	t.Cleanup(func() {
		s.Close()
		for _, p := range c.Problems() {
			t.Errorf("autodl double: %s", p)
		}
	})
	return s.URL
}

const (
	apiPrefix = "/api/v1/dev/"
	stateMsg  = "当前实例状态不支持该操作" // the code that goes with it is not documented
)

type answer struct {
	Code      string `json:"code"`
	Msg       string `json:"msg"`
	Data      any    `json:"data"`
	RequestID string `json:"request_id"`
}

func success(data any) answer { return answer{Code: "Success", Data: data} }

var wrongParameter = answer{Code: "RequestParameterIsWrong", Msg: "请求参数错误"}

// call is one path of the API. It answers, or says what is wrong with the
// request itself.
type call struct {
	method string
	answer func(c *Cloud, body []byte) (answer, error)
}

var calls = map[string]call{
	apiPrefix + "instance/pro/list":      {http.MethodPost, (*Cloud).list},
	apiPrefix + "instance/pro/status":    {http.MethodGet, (*Cloud).status},
	apiPrefix + "instance/pro/snapshot":  {http.MethodGet, (*Cloud).snapshot},
	apiPrefix + "instance/pro/power_on":  {http.MethodPost, (*Cloud).orderOn},
	apiPrefix + "instance/pro/power_off": {http.MethodPost, (*Cloud).orderOff},
	apiPrefix + "instance/pro/release":   {http.MethodPost, (*Cloud).orderRelease},
	apiPrefix + "wallet/balance":         {http.MethodPost, (*Cloud).balance},

	apiPrefix + "instance/pro/create":      {http.MethodPost, (*Cloud).orderNew},
	apiPrefix + "machine/region/gpu_stock": {http.MethodPost, (*Cloud).gpuStock},
}

// ServeHTTP answers one request.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	req := Request{Method: r.Method, Path: r.URL.Path, UUID: uuidOf(r, body)}
	if c.o.OnRequest != nil {
		c.o.OnRequest(req)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, req)
	c.advance()

	f := c.fault(r.URL.Path)
	if f != nil {
		if f.Reached != nil {
			f.Reached()
		}
		if c.before(w, r, f) {
			return
		}
	}
	call, known := calls[r.URL.Path]
	if !known {
		c.problem(w, req, "there is no such path")
		return
	}
	if r.Method != call.method {
		c.problem(w, req, "method must be "+call.method)
		return
	}
	if refused, why := c.admit(r); why != "" {
		c.problem(w, req, why)
		return
	} else if refused {
		c.say(w, answer{Code: "AuthorizeFailed", Msg: "登录超时，请重新登录"})
		return
	}
	if call.method == http.MethodGet {
		var ok bool
		var why string
		if body, ok, why = c.subject(r, body); why != "" {
			c.problem(w, req, why)
			return
		} else if !ok {
			c.say(w, wrongParameter)
			return
		}
	} else if why := wellPosted(r, body); why != "" {
		c.problem(w, req, why)
		return
	}
	a, err := call.answer(c, body)
	if err != nil {
		c.problem(w, req, err.Error())
		return
	}
	c.after(w, f, a)
}

// admit checks the token: raw, without a scheme.
func (c *Cloud) admit(r *http.Request) (refused bool, problem string) {
	values := r.Header.Values("Authorization")
	switch {
	case len(values) != 1:
		return false, fmt.Sprintf("there must be one Authorization header, not %d", len(values))
	case strings.Contains(values[0], " "):
		return false, "Authorization must be the raw token, without Bearer"
	}
	return values[0] != c.token, ""
}

// subject reads the instance a GET names, as the JSON body it stands for.
func (c *Cloud) subject(r *http.Request, body []byte) (b []byte, ok bool, problem string) {
	q := r.URL.Query()
	for key, values := range q {
		if key != "instance_uuid" || len(values) != 1 {
			return nil, false, "query may hold instance_uuid only, once"
		}
	}
	switch {
	case len(q) > 0 && len(body) > 0:
		return nil, false, "instance is named in the query and in a body"
	case c.o.BodyGET:
		return body, len(body) > 0, ""
	case len(q) == 0:
		return nil, false, ""
	}
	b, err := json.Marshal(map[string]string{"instance_uuid": q.Get("instance_uuid")})
	return b, err == nil, ""
}

func wellPosted(r *http.Request, body []byte) string {
	if r.URL.RawQuery != "" {
		return "a POST has no query"
	}
	if ct := r.Header.Get("Content-Type"); len(body) > 0 && !strings.HasPrefix(ct, "application/json") {
		return "Content-Type must be application/json, not " + ct
	}
	return ""
}

// after sends an answer, spoiled by the fault where there is one.
func (c *Cloud) after(w http.ResponseWriter, f *Fault, a answer) {
	if f == nil {
		c.say(w, a)
		return
	}
	l, isList := a.Data.(listData)
	switch {
	case f.Kind == DropAfter:
		drop(w)
	case f.Kind == Truncated:
		whole := c.render(a)
		page(w, http.StatusOK, "application/json", string(whole[:len(whole)/2]))
		return
	case f.Kind == EmptyList && isList:
		a.Data = listData{List: []listItem{}, PageIndex: 1, PageSize: l.PageSize}
	case f.Kind == ShortList && isList && len(l.List) > 0:
		l.List = l.List[:len(l.List)-1]
		a.Data = l
	}
	c.say(w, a)
}

func (c *Cloud) say(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(c.render(a)) // the client may be gone
}

func (c *Cloud) render(a answer) []byte {
	a.RequestID = fmt.Sprintf("req-%06d", len(c.requests))
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // only our own types are in it
	}
	return b
}

func (c *Cloud) problem(w http.ResponseWriter, r Request, why string) {
	why = r.String() + ": " + why
	c.problems = append(c.problems, why)
	if c.o.Problem != nil {
		c.o.Problem(why)
	}
	page(w, http.StatusBadRequest, "text/plain", why)
}

func uuidOf(r *http.Request, body []byte) string {
	if id := r.URL.Query().Get("instance_uuid"); id != "" {
		return id
	}
	var b struct {
		UUID string `json:"instance_uuid"`
	}
	_ = json.Unmarshal(body, &b) // a body without one names none
	return b.UUID
}

// strict reads a body that may hold the fields of out and no others.
func strict(body []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: more than one JSON value")
	}
	return nil
}

type nullTime struct {
	Time  time.Time
	Valid bool
}

var beijing = time.FixedZone("+08:00", 8*3600)

func null(t time.Time) nullTime {
	if t.IsZero() {
		return nullTime{}
	}
	return nullTime{t.In(beijing).Truncate(time.Second), true}
}
