package notifytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"curfew/notify"
)

// Opener opens a channel that talks to a base URL, or to its own where that is empty,
// through a client.
type Opener func(t testing.TB, baseURL string, client *http.Client) notify.Channel

// Unreachable sends m where nobody listens, when the context is over, and through
// proxies that tell in their errors what they saw of a request to base: each part of
// the address, each header, the body. All of it is tried again, in words that tell the
// cause and hold no secret. A request without any of the secrets fails, since it would
// show nothing.
func Unreachable(t *testing.T, open Opener, base string, m notify.Message, secrets ...string) {
	t.Helper()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	try := func(name string, ctx context.Context, c notify.Channel, words string, secrets ...string) {
		t.Run(name, func(t *testing.T) {
			v := c.Send(ctx, m)
			if v.Kind != notify.VerdictRetry || v.Detail == "" || !strings.Contains(v.Detail, words) || v.Ref != "" {
				t.Errorf("verdict %+v", v)
			}
			NoSecret(t, v, secrets...)
		})
	}
	hidden := append(slices.Clone(secrets), gone.URL)
	try("nobody listens", t.Context(), open(t, gone.URL, Client()), "", hidden...)
	try("the context is over", over, open(t, gone.URL, Client()), "", hidden...)
	all := map[string]string{}
	open(t, base, &http.Client{Transport: RoundTrip(func(r *http.Request) (*http.Response, error) {
		var err error
		all, err = parts(r)
		return nil, errors.Join(err, io.EOF)
	})}).Send(t.Context(), m)
	if FindSecret(all, secrets...) == "" {
		t.Errorf("the request holds none of the secrets: %v", all)
	}
	for part := range all {
		gossip := RoundTrip(func(r *http.Request) (*http.Response, error) {
			saw, err := parts(r)
			return nil, errors.Join(err, errors.New("proxy said no to "+saw[part]), &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF})
		})
		try("a proxy that gossips of "+part, t.Context(), open(t, base, &http.Client{Transport: gossip}), "proxy said no", secrets...)
	}
}

// parts are what a proxy sees of a request, each by itself, since words are cut short
// and what stands behind the cut would show nothing. The body is JSON or a form.
func parts(r *http.Request) (map[string]string, error) {
	body, err := io.ReadAll(r.Body)
	all := map[string]string{"the address": r.URL.String(), "the path": r.URL.Path, "the request line": r.URL.RequestURI()}
	for name, values := range r.URL.Query() {
		all["the parameter "+name] = fmt.Sprint(values)
	}
	for name, values := range r.Header {
		all["the header "+name] = fmt.Sprint(values)
	}
	between := `":`
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
		between = "&"
	}
	for n, value := range strings.Split(string(body), between) {
		all[fmt.Sprint("part ", n, " of the body")] = value
	}
	return all, err
}
