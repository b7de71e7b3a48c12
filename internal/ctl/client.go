package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"curfew/fleet"
)

// ErrNoDaemon is returned by every method of a [Client] when nobody listens at
// its socket.
var ErrNoDaemon = errors.New("no daemon is running; start one with curfew run")

// longestAnswer is the most bytes that an answer may hold.
const longestAnswer = 256 << 20

// Client asks a daemon over its socket. It may be used from several goroutines.
type Client struct {
	path string
	http *http.Client
}

var _ API = (*Client)(nil)

// NewClient makes a client of the daemon at a socket; it does not connect yet.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if hashed(path) {
			if err := trusted(path); err != nil {
				return nil, err
			}
		}
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	return &Client{path: path, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Path is where the client looks for the daemon.
func (c *Client) Path() string { return c.path }

// Plan asks for [API.Plan].
func (c *Client) Plan(ctx context.Context) (p Plan, err error) {
	return p, c.get(ctx, pathPlan, nil, &p)
}

// Explain asks for [API.Explain].
func (c *Client) Explain(ctx context.Context, name string) (e Explanation, err error) {
	return e, c.get(ctx, pathExplain, url.Values{"name": {name}}, &e)
}

// List asks for [API.List].
func (c *Client) List(ctx context.Context) (l Listing, err error) {
	return l, c.get(ctx, pathList, nil, &l)
}

// Resources asks for [API.Resources].
func (c *Client) Resources(ctx context.Context, kind fleet.ThingKind) (r Resources, err error) {
	return r, c.get(ctx, pathResources, url.Values{"kind": {string(kind)}}, &r)
}

// Status asks for [API.Status].
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	return s, c.get(ctx, pathStatus, nil, &s)
}

// PingKey asks for [API.PingKey].
func (c *Client) PingKey(ctx context.Context, name string) (k PingKey, err error) {
	return k, c.get(ctx, pathPingKey, url.Values{"name": {name}}, &k)
}

// Journal asks for [API.Journal].
func (c *Client) Journal(ctx context.Context, q JournalQuery) (a JournalAnswer, err error) {
	v := url.Values{}
	if q.Intent != 0 {
		v.Set("intent", strconv.FormatInt(q.Intent, 10))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return a, c.get(ctx, pathJournal, v, &a)
}

// Hold asks for [API.Hold].
func (c *Client) Hold(ctx context.Context, h HoldRequest) (a HoldAnswer, err error) {
	return a, c.post(ctx, pathHold, h, &a)
}

// ApproveHold asks for [API.ApproveHold].
func (c *Client) ApproveHold(ctx context.Context, id int64, by string) (a HoldAnswer, err error) {
	return a, c.post(ctx, pathApproveHold, approveRequest{ID: id, By: by}, &a)
}

// Apply asks for [API.Apply].
func (c *Client) Apply(ctx context.Context, r ApplyRequest) (a Applied, err error) {
	return a, c.post(ctx, pathApply, r, &a)
}

// Act asks for [API.Act].
func (c *Client) Act(ctx context.Context, r ActRequest) (i fleet.Intent, err error) {
	return i, c.post(ctx, pathAct, r, &i)
}

// Approve asks for [API.Approve].
func (c *Client) Approve(ctx context.Context, id int64, by string) (i fleet.Intent, err error) {
	return i, c.post(ctx, pathApprove, approveRequest{ID: id, By: by}, &i)
}

// Forget asks for [API.Forget].
func (c *Client) Forget(ctx context.Context, account string) error {
	return c.post(ctx, pathForget, forgetRequest{Account: account}, &done{})
}

// Reload asks for [API.Reload].
func (c *Client) Reload(ctx context.Context) error {
	return c.post(ctx, pathReload, done{}, &done{})
}

func (c *Client) get(ctx context.Context, path string, q url.Values, into any) error {
	return c.do(ctx, http.MethodGet, path+"?"+q.Encode(), nil, into)
}

func (c *Client) post(ctx context.Context, path string, v, into any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	return c.do(ctx, http.MethodPost, path, body, into)
}

func (c *Client) do(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://curfew"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unanswered(ctx, err)
	}
	defer resp.Body.Close()
	in := json.NewDecoder(io.LimitReader(resp.Body, longestAnswer))
	if resp.StatusCode != http.StatusOK {
		var f failure
		if err := in.Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("the daemon at %s answered %s without saying why", c.path, resp.Status)
		}
		if f.Refused != nil {
			return &RefusedError{Ruling: *f.Refused}
		}
		if !f.Reason.IsZero() {
			return &fleet.ReasonError{Reason: f.Reason, Err: errors.New(f.Error)}
		}
		return errors.New(f.Error)
	}
	if err := in.Decode(into); err != nil {
		return fmt.Errorf("the answer of the daemon at %s cannot be read: %w", c.path, err)
	}
	return nil
}

// unanswered says why there was no answer. The address in an *url.Error is made
// up and tells nothing.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case absent(err):
		return noDaemon(c.path)
	case errors.Is(err, fs.ErrPermission):
		return mayNotTalk(c.path)
	}
	return noAnswer(c.path, err)
}
