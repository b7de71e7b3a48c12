package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"curfew/fleet"
	"curfew/internal/guard"
)

// The most bytes that a request may hold; one that names the acts of a plan may be
// longer than others.
const (
	longestRequest = 1 << 20
	longestList    = 16 << 20
)

// The paths of the API; the version is in them.
const (
	pathPlan      = "/v1/plan"
	pathExplain   = "/v1/explain"
	pathList      = "/v1/list"
	pathJournal   = "/v1/journal"
	pathStatus    = "/v1/status"
	pathPingKey   = "/v1/ping-key"
	pathResources = "/v1/resources"
	pathHold      = "/v1/hold"
	// pathApproveHold grants a hold.
	pathApproveHold = "/v1/approve-hold"
	pathApply       = "/v1/apply"
	pathAct         = "/v1/act"
	pathApprove     = "/v1/approve"
	pathForget      = "/v1/forget"
	pathReload      = "/v1/reload"
)

// RefusedError says that a check refuses what was asked, and why. It reaches the
// client whole, so that the reason can be told in the reader's language.
type RefusedError struct {
	Ruling guard.Ruling
}

// Error names the check and the reason's code.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused by %s: %s", e.Ruling.Check, e.Ruling.Reason.Code)
}

// failure is the body of every answer that is not 200.
type failure struct {
	Error   string        `json:"error"`
	Refused *guard.Ruling `json:"refused,omitempty"`
	Reason  fleet.Reason  `json:"reason,omitzero"` // the same, for the reader's language
}

// approveRequest is the body of an approval.
type approveRequest struct {
	ID int64  `json:"id"`
	By string `json:"by"`
}

// forgetRequest is the body of a request to forget.
type forgetRequest struct {
	Account string `json:"account"`
}

// done is the body of an answer that has nothing to tell.
type done struct{}

// Handler serves the API as JSON over HTTP. It asks nobody who they are: the
// socket's file mode is the door.
func Handler(api API) http.Handler {
	mux := http.NewServeMux()
	read := func(path string, answer func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := answer(r)
			reply(w, v, err)
		})
	}
	read(pathPlan, func(r *http.Request) (any, error) { return api.Plan(r.Context()) })
	read(pathList, func(r *http.Request) (any, error) { return api.List(r.Context()) })
	read(pathStatus, func(r *http.Request) (any, error) { return api.Status(r.Context()) })
	read(pathExplain, func(r *http.Request) (any, error) {
		return api.Explain(r.Context(), r.URL.Query().Get("name"))
	})
	read(pathResources, func(r *http.Request) (any, error) {
		return api.Resources(r.Context(), fleet.ThingKind(r.URL.Query().Get("kind")))
	})
	read(pathCost, func(r *http.Request) (any, error) {
		q, err := costQuery(r)
		if err != nil {
			return nil, err
		}
		return api.Cost(r.Context(), q)
	})
	read(pathPingKey, func(r *http.Request) (any, error) {
		return api.PingKey(r.Context(), r.URL.Query().Get("name"))
	})
	read(pathJournal, func(r *http.Request) (any, error) {
		q, err := journalQuery(r)
		if err != nil {
			return nil, err
		}
		return api.Journal(r.Context(), q)
	})
	write(mux, pathHold, api.Hold)
	write(mux, pathEstimate, api.Estimate)
	write(mux, pathAccept, api.AcceptMachine)
	write(mux, pathAnswer, api.Answer)
	write(mux, pathSends, api.Sends)
	write(mux, pathApply, api.Apply)
	write(mux, pathAct, api.Act)
	write(mux, pathApprove, func(ctx context.Context, a approveRequest) (fleet.Intent, error) {
		return api.Approve(ctx, a.ID, a.By)
	})
	write(mux, pathApproveHold, func(ctx context.Context, a approveRequest) (HoldAnswer, error) {
		return api.ApproveHold(ctx, a.ID, a.By)
	})
	write(mux, pathForget, func(ctx context.Context, f forgetRequest) (done, error) {
		return done{}, api.Forget(ctx, f.Account)
	})
	write(mux, pathReload, func(ctx context.Context, _ done) (done, error) { return done{}, api.Reload(ctx) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		say(w, http.StatusNotFound, failure{Error: fmt.Sprintf("the daemon has no %s %s; are it and this command of one version?", r.Method, r.URL.Path)})
	})
	return mux
}

// write serves a request with a body. A key the daemon does not know is refused:
// what it does not understand it must not leave out.
func write[Q, A any](mux *http.ServeMux, path string, do func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var q Q
		most := int64(longestRequest)
		if path == pathApply {
			most = longestList
		}
		in := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
		in.DisallowUnknownFields()
		if err := in.Decode(&q); err != nil {
			reply(w, nil, &badRequestError{fmt.Errorf("the request cannot be read: %w", err)})
			return
		}
		a, err := do(r.Context(), q)
		reply(w, a, err)
	})
}

func journalQuery(r *http.Request) (q JournalQuery, err error) {
	v := r.URL.Query()
	if s := v.Get("intent"); s != "" {
		if q.Intent, err = strconv.ParseInt(s, 10, 64); err != nil {
			return q, &badRequestError{fmt.Errorf("intent: %w", err)}
		}
	}
	if s := v.Get("limit"); s != "" {
		if q.Limit, err = strconv.Atoi(s); err != nil {
			return q, &badRequestError{fmt.Errorf("limit: %w", err)}
		}
	}
	return q, nil
}

// badRequestError is a request that makes no sense.
type badRequestError struct{ err error }

// Error gives the cause.
func (e *badRequestError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *badRequestError) Unwrap() error { return e.err }

func reply(w http.ResponseWriter, v any, err error) {
	if err == nil {
		say(w, http.StatusOK, v)
		return
	}
	f, status := failure{Error: err.Error()}, http.StatusInternalServerError
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		f.Refused, status = &refused.Ruling, http.StatusConflict
	}
	if told, ok := errors.AsType[*fleet.ReasonError](err); ok {
		f.Reason = told.Reason
	}
	if _, ok := errors.AsType[*badRequestError](err); ok {
		status = http.StatusBadRequest
	}
	say(w, status, f)
}

func say(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // who has gone away is not told
}
