package httpx

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/providers"
)

// attempt sends a request once: pays for it, signs it, and notes whether any of
// it may have reached the platform.
type attempt struct {
	reads, writes http.RoundTripper
	budget        *Budget
	sign          providers.Signer
	logger        zerolog.Logger
	redact        *Redactor
	agent         string
	answered      func(*http.Response)
}

// attemptError is a failed attempt.
type attemptError struct {
	err   error
	sent  bool // some of it may have reached the platform
	final bool // trying again cannot help
}

func (e *attemptError) Error() string { return e.err.Error() }
func (e *attemptError) Unwrap() error { return e.err }

// RoundTrip sends a copy of the request.
func (a *attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if a.budget != nil {
		if err := a.budget.take(ctx, classOf(ctx)); err != nil {
			closeBody(req)
			return nil, &attemptError{err: err, final: true}
		}
	}
	var sent atomic.Bool
	req = req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	}))
	if a.agent != "" {
		req.Header.Set("User-Agent", a.agent)
	}
	if a.sign != nil {
		if err := a.sign(req); err != nil {
			closeBody(req)
			return nil, &attemptError{err: &fleet.Error{Op: "sign request", Kind: fleet.Other, Err: err}, final: true}
		}
	}
	next := a.writes
	if isRead(ctx) {
		next = a.reads
	}
	resp, err := next.RoundTrip(req)
	told := a.logger.Debug().Str("method", req.Method).Str("host", req.URL.Host).Str("path", a.redact.String(req.URL.Path))
	if err != nil {
		told.Str("error", a.redact.String(err.Error())).Msg("request failed")
		return nil, &attemptError{err: err, sent: sent.Load()}
	}
	told.Int("status", resp.StatusCode).Msg("request answered")
	if a.answered != nil {
		a.answered(resp)
	}
	return resp, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // nothing was sent; a failure to close changes nothing
	}
}

// redacting is the outermost layer: what it lets out as an error can be shown.
type redacting struct {
	next   http.RoundTripper
	redact *Redactor
	close  func()
}

// RoundTrip passes the request on.
func (r *redacting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	f := &failure{text: r.redact.String(withoutURL(err).Error()), cause: err, sent: true}
	var a *attemptError
	if errors.As(err, &a) {
		f.sent = a.sent
	}
	if e, ok := errors.AsType[*fleet.Error](err); ok {
		f.refusal = &fleet.Error{Op: e.Op, Kind: e.Kind, RetryAfter: e.RetryAfter}
		if e.Err != nil {
			f.refusal.Err = errors.New(r.redact.String(e.Err.Error()))
		}
	}
	return nil, f
}

// CloseIdleConnections closes the connections kept for the next read.
func (r *redacting) CloseIdleConnections() { r.close() }

// failure is an error that can be shown. Its cause can be asked about but not
// taken out, since it may hold a secret.
type failure struct {
	text    string
	cause   error
	sent    bool
	refusal *fleet.Error // ours: the budget's or the signer's
}

func (f *failure) Error() string { return f.text }

// Is asks the cause.
func (f *failure) Is(target error) bool { return errors.Is(f.cause, target) }

// As gives out our own refusal and nothing else.
func (f *failure) As(target any) bool {
	t, ok := target.(**fleet.Error)
	if ok && f.refusal != nil {
		*t = f.refusal
		return true
	}
	return false
}

// Timeout reports whether the cause was one.
func (f *failure) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(f.cause, &t) && t.Timeout()
}
