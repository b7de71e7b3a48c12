package httpx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-resty/resty/v2"

	"curfew/fleet"
)

// Kind gives the kind of failure that an HTTP status alone speaks of, for a
// read; "" for success.
func Kind(status int) fleet.ErrorKind {
	switch {
	case status >= 200 && status < 300:
		return ""
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fleet.Unauthorized
	case status == http.StatusNotFound, status == http.StatusGone:
		return fleet.NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed, status == http.StatusLocked:
		return fleet.Conflict
	case status == http.StatusTooManyRequests:
		return fleet.RateLimited
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return fleet.Invalid
	case status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return fleet.Unsupported
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500 && status < 600:
		return fleet.Transient
	}
	return fleet.Other
}

// Classify gives the *fleet.Error that an answer speaks of, or nil for a 2xx
// answer that is not a web page. resp and err are as resty gave them.
//
//	                                     read          write
//	no connection was made               Transient     Transient
//	connection broke, time-out, cancel   Transient     OutcomeUnknown
//	our own budget                       RateLimited   (never refused)
//	5xx, 408, redirect                   Transient     OutcomeUnknown
//	429                                  RateLimited   RateLimited
//	a page asking for a captcha, 403     Banned        Banned
//	any other page with 2xx              Transient     OutcomeUnknown
//	401, 403 | 404 | 409 | 400           Unauthorized | NotFound | Conflict | Invalid
func Classify(op string, write bool, resp *resty.Response, err error) error {
	if err != nil {
		return failed(op, write, err)
	}
	status, page := resp.StatusCode(), isPage(resp)
	e := &fleet.Error{Op: op, Kind: Kind(status), RetryAfter: retryAfter(resp.Header()), Err: fmt.Errorf("HTTP %d", status)}
	switch {
	case page && e.Kind != fleet.RateLimited && (status == http.StatusForbidden || asksForHuman(resp.Body())):
		e.Kind = fleet.Banned
		e.Err = fmt.Errorf("HTTP %d with a page that keeps programs out", status)
	case page && (e.Kind == "" || e.Kind == fleet.NotFound || e.Kind == fleet.Conflict):
		// Such a page is a gateway's or a wrong address's; it does not speak of the
		// thing asked for.
		e.Kind = unclear(write)
		e.Err = fmt.Errorf("HTTP %d with a web page instead of JSON; if it lasts, check base_url", status)
	case e.Kind == "":
		return nil
	case status >= 300 && status < 400:
		e.Kind = unclear(write)
		e.Err = fmt.Errorf("HTTP %d: redirects are not followed; if it lasts, check base_url", status)
	case e.Kind == fleet.Transient:
		e.Kind = unclear(write)
	}
	return e
}

// Decode classifies an answer and reads its JSON into out. JSON that breaks off
// or is none is Transient for a read, OutcomeUnknown for a write.
func Decode(op string, write bool, resp *resty.Response, err error, out any) error {
	if err := Classify(op, write, resp, err); err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body(), out); err != nil {
		return Garbled(op, write, fmt.Errorf("answer is not the JSON expected: %w", err))
	}
	return nil
}

// Garbled is the error for an answer that cannot be understood.
func Garbled(op string, write bool, why error) error {
	return &fleet.Error{Op: op, Kind: unclear(write), Err: why}
}

func unclear(write bool) fleet.ErrorKind {
	if write {
		return fleet.OutcomeUnknown
	}
	return fleet.Transient
}

func failed(op string, write bool, err error) error {
	if e, ok := errors.AsType[*fleet.Error](err); ok {
		return &fleet.Error{Op: op, Kind: e.Kind, RetryAfter: e.RetryAfter, Err: e.Err}
	}
	kind := unclear(write)
	var f *failure
	if errors.As(err, &f) {
		if !f.sent {
			kind = fleet.Transient
		}
		return &fleet.Error{Op: op, Kind: kind, Err: f}
	}
	return &fleet.Error{Op: op, Kind: kind, Err: &failure{text: withoutURL(err).Error(), cause: err, sent: true}}
}

// isPage reports whether the answer is meant for a browser.
func isPage(resp *resty.Response) bool {
	body := bytes.TrimLeft(bytes.TrimPrefix(resp.Body(), []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(body) > 0 {
		return body[0] == '<'
	}
	return strings.HasPrefix(resp.Header().Get("Content-Type"), "text/html")
}

// asksForHuman reports whether a page is a gate that only a person can pass.
func asksForHuman(body []byte) bool {
	page := bytes.ToLower(body)
	for _, sign := range [...]string{"captcha", "verify you are human", "验证码", "人机验证", "滑动验证", "访问被拦截", "访问被阻断"} {
		if bytes.Contains(page, []byte(sign)) {
			return true
		}
	}
	return false
}
