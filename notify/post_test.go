package notify_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"curfew/notify"
	"curfew/notify/notifytest"
)

const postSecret = `p+a/t&h"token`

func poster(base string) notify.Poster {
	return notify.Poster{
		HTTP: notifytest.Client(), URL: base + "/send?key=" + url.QueryEscape(postSecret),
		Header: http.Header{"Authorization": {"raw"}}, Secrets: []string{postSecret},
	}
}

func posted() notifytest.Expect {
	type body struct {
		Text string `json:"text"`
	}
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/send", Query: url.Values{"key": {postSecret}}, ContentType: "application/json",
		Header: http.Header{"Authorization": {"raw"}}, Body: func() any { return new(body) },
	}
}

func TestPostSendsJSONAsItIs(t *testing.T) {
	server := notifytest.NewServer(t, posted(), notifytest.Reply{Status: 202, Header: http.Header{"X-A": {"b"}}, Body: "taken"})
	v := poster(server.URL).Post(t.Context(), map[string]string{"text": "a < b & c"}, func(a notify.Answer) notify.Verdict {
		if a.Status != 202 || a.Header.Get("X-A") != "b" || string(a.Body) != "taken" {
			t.Errorf("answer %d %v %q", a.Status, a.Header, a.Body)
		}
		return notify.Verdict{Kind: notify.VerdictOK, Code: "0"}
	})
	if v.Kind != notify.VerdictOK || v.Code != "0" {
		t.Errorf("verdict %+v", v)
	}
	if got := string(server.Bodies()[0]); got != `{"text":"a < b & c"}`+"\n" {
		t.Errorf("body %q", got)
	}
}

func TestPostLetsNoSecretOut(t *testing.T) {
	for name, words := range map[string]string{
		"as it is":          postSecret,
		"as in a query":     url.QueryEscape(postSecret),
		"as in a path":      url.PathEscape(postSecret),
		"as in JSON":        `p+a/t&h\"token`,
		"as JSON escapes &": `p+a/t\u0026h\"token`,
	} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, posted(), notifytest.Reply{})
			v := poster(server.URL).Post(t.Context(), map[string]string{}, func(notify.Answer) notify.Verdict {
				return notify.Verdict{Code: "no " + words, Detail: "one\ntwo " + words + strings.Repeat("长", 500)}
			})
			notifytest.NoSecret(t, v, postSecret, words)
			if !strings.HasPrefix(v.Detail, "one two <secret>") || len(v.Detail) > 200 || !utf8.ValidString(v.Detail) {
				t.Errorf("detail %q", v.Detail)
			}
		})
	}
}

func TestPostWithoutAnAnswerIsTriedAgain(t *testing.T) {
	judge := func(notify.Answer) notify.Verdict {
		t.Error("judged although there was no answer")
		return notify.Verdict{Kind: notify.VerdictOK}
	}
	server := notifytest.NewServer(t, posted(), notifytest.Reply{Drop: true})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		change func(*notify.Poster)
	}{
		"a cut connection":       {t.Context(), func(*notify.Poster) {}},
		"a context that is over": {over, func(*notify.Poster) {}},
		"an error that repeats the address": {t.Context(), func(p *notify.Poster) {
			p.HTTP = &http.Client{Transport: notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				return nil, errors.Join(errors.New("proxy refuses "+r.URL.String()), &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF})
			})}
		}},
		"an answer that breaks off": {t.Context(), func(p *notify.Poster) {
			p.HTTP = &http.Client{Transport: notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader("o"), broken{})), Request: r}, nil
			})}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := poster(server.URL)
			c.change(&p)
			v := p.Post(c.ctx, map[string]string{}, judge)
			if v.Kind != notify.VerdictRetry || v.Code != "network" || v.Detail == "" {
				t.Errorf("verdict %+v", v)
			}
			notifytest.NoSecret(t, v, postSecret, p.URL, "/send?")
		})
	}
}

func TestPostRefusesWhatCannotBeSent(t *testing.T) {
	p := poster("https://robot.test")
	if v := p.Post(t.Context(), func() {}, nil); v.Kind != notify.VerdictBadMessage || v.Code != "encode" {
		t.Errorf("a payload that is no JSON: %+v", v)
	}
	p.URL = "https://robot.test/%zz" + postSecret
	v := p.Post(t.Context(), "", nil)
	if v.Kind != notify.VerdictPermanent || v.Code != "request" {
		t.Errorf("an address that is none: %+v", v)
	}
	notifytest.NoSecret(t, v, postSecret)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }
