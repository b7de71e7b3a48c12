package autodl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-resty/resty/v2"

	"curfew/fleet"
	"curfew/internal/httpx"
)

const (
	pathList     = "/api/v1/dev/instance/pro/list"
	pathStatus   = "/api/v1/dev/instance/pro/status"
	pathSnapshot = "/api/v1/dev/instance/pro/snapshot"
	pathPowerOn  = "/api/v1/dev/instance/pro/power_on"
	pathPowerOff = "/api/v1/dev/instance/pro/power_off"
	pathRelease  = "/api/v1/dev/instance/pro/release"
	pathBalance  = "/api/v1/dev/wallet/balance"
	pathCreate   = "/api/v1/dev/instance/pro/create"
	pathStock    = "/api/v1/dev/machine/region/gpu_stock"
)

// envelope is around every answer. Failures come in it too, mostly with HTTP
// 200.
type envelope struct {
	Code      string          `json:"code"`
	Msg       string          `json:"msg"`
	Data      json.RawMessage `json:"data"`
	RequestID string          `json:"request_id"`
}

// oneInstance names an instance, in a body or in a query.
type oneInstance struct {
	UUID string `json:"instance_uuid"`
}

// read posts a question; AutoDL's lists are POSTs.
func (a *account) read(ctx context.Context, op, path string, body, out any) error {
	r := a.http.R().SetContext(httpx.Read(ctx))
	if body != nil {
		r.SetBody(body)
	}
	resp, err := r.Post(path)
	return a.answer(op, false, resp, err, out)
}

// readOne asks for one instance. The manual shows a GET with a body; what works
// is a query, so that the body is only tried where the query is refused.
func (a *account) readOne(ctx context.Context, op, path, uuid string, out any) error {
	ctx = httpx.Read(ctx)
	resp, err := a.http.R().SetContext(ctx).SetQueryParam("instance_uuid", uuid).Get(path)
	err = a.answer(op, false, resp, err, out)
	if !errors.Is(err, fleet.Invalid) {
		return err
	}
	resp, err = a.http.R().SetContext(ctx).SetBody(oneInstance{uuid}).Get(path)
	return a.answer(op, false, resp, err, out)
}

// write posts an order, once.
func (a *account) write(ctx context.Context, op, path string, body any) error {
	return a.writeFor(ctx, op, path, body, nil)
}

// writeFor posts an order, once, and reads the data of its answer into out.
func (a *account) writeFor(ctx context.Context, op, path string, body, out any) error {
	resp, err := a.http.R().SetContext(httpx.Write(ctx)).SetBody(body).Post(path)
	return a.answer(op, true, resp, err, out)
}

// answer judges an answer and reads its data into out, where out is not nil.
func (a *account) answer(op string, write bool, resp *resty.Response, err error, out any) error {
	failed := httpx.Classify(op, write, resp, err)
	if err != nil {
		return failed
	}
	var env envelope
	garbled := json.Unmarshal(resp.Body(), &env)
	if failed != nil {
		return a.failedAnswer(op, write, resp.StatusCode(), failed, env)
	}
	switch {
	case garbled != nil:
		return httpx.Garbled(op, write, fmt.Errorf("answer is not AutoDL's JSON: %w", garbled))
	case env.Code == "":
		return httpx.Garbled(op, write, errors.New("answer has no code"))
	case env.Code != "Success":
		return a.refused(op, write, env)
	case out == nil:
		return nil
	case len(env.Data) == 0 || bytes.Equal(env.Data, []byte("null")):
		return httpx.Garbled(op, write, errors.New("answer has no data"))
	}
	if err := json.Unmarshal(env.Data, out); err != nil {
		return httpx.Garbled(op, write, fmt.Errorf("data of the answer is not as expected: %w", err))
	}
	return nil
}

// failedAnswer judges an answer with a failing HTTP status. AutoDL's own code
// says more than a 4xx; of a rate limit and a 5xx the status says all.
func (a *account) failedAnswer(op string, write bool, status int, failed error, env envelope) error {
	if env.Code != "" && env.Code != "Success" && status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		return a.refused(op, write, env)
	}
	if status == http.StatusNotFound {
		// AutoDL says with a code of its own that it does not know an instance; a
		// bare 404 is a wrong address and must not count as "gone".
		return &fleet.Error{Op: op, Kind: fleet.Other, Err: errors.New("HTTP 404: there is no such call at this address; check base_url")}
	}
	return failed
}
