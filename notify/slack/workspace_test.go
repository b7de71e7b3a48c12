package slack_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack/slacktest"

	"curfew/notify/notifytest"
)

// posted is one call of chat.postMessage: the fields of the form, and the blocks.
type posted struct {
	Fields map[string]string `json:"fields"`
	Blocks []botBlock        `json:"blocks"`
}

type botBlock struct {
	Type     string      `json:"type"`
	BlockID  string      `json:"block_id,omitempty"`
	Text     *textObject `json:"text,omitempty"`
	Elements []struct {
		Type     string     `json:"type"`
		Text     textObject `json:"text"`
		ActionID string     `json:"action_id"`
		Value    string     `json:"value,omitempty"`
		URL      string     `json:"url,omitempty"`
		Style    string     `json:"style,omitempty"`
	} `json:"elements,omitempty"`
}

// read takes a request apart and checks it against what Slack takes.
func read(r *http.Request) (posted, error) {
	p := posted{Fields: map[string]string{}}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat.postMessage") || r.URL.RawQuery != "" {
		return p, fmt.Errorf("%s %s is not how a message is posted", r.Method, r.URL)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return p, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return p, err
	}
	for name, v := range values {
		known := []string{"token", "channel", "text", "blocks", "thread_ts", "unfurl_links", "unfurl_media"}
		if len(v) != 1 || !slices.Contains(known, name) || !utf8.ValidString(v[0]) {
			return p, fmt.Errorf("field %s is %q", name, v)
		}
		p.Fields[name] = v[0]
	}
	if p.Fields["token"] != token {
		return p, errors.New("the token is wrong")
	}
	delete(p.Fields, "token")
	web := payload{Text: p.Fields["text"]}
	errs := []error{}
	if blocks := p.Fields["blocks"]; blocks != "" {
		delete(p.Fields, "blocks")
		errs = append(errs, notifytest.Strict([]byte(blocks), &p.Blocks))
	}
	for _, b := range p.Blocks {
		if b.Type == "actions" {
			errs = append(errs, b.check())
			continue
		}
		if b.Text == nil || b.BlockID != "" {
			errs = append(errs, fmt.Errorf("block %+v", b))
			continue
		}
		web.Blocks = append(web.Blocks, struct {
			Type string     `json:"type"`
			Text textObject `json:"text"`
		}{b.Type, *b.Text})
	}
	return p, errors.Join(append(errs, web.check())...)
}

// check keeps a block of buttons within Slack's limits.
func (b botBlock) check() error {
	seen := map[string]bool{}
	if b.BlockID == "" || b.Text != nil || len(b.Elements) < 1 || len(b.Elements) > 25 {
		return fmt.Errorf("a block of %d buttons, %+v", len(b.Elements), b)
	}
	for _, e := range b.Elements {
		n := utf8.RuneCountInString(e.Text.Text)
		switch {
		case e.Type != "button" || e.Text.Type != "plain_text" || e.Text.Emoji == nil || *e.Text.Emoji || n < 1 || n > 75:
			return fmt.Errorf("button %+v", e)
		case e.ActionID == "" || len(e.ActionID) > 255 || seen[e.ActionID]:
			return fmt.Errorf("action_id %q is empty, long or there twice", e.ActionID)
		case (e.Value == "") == (e.URL == "") || utf8.RuneCountInString(e.Value) > 2000 || len(e.URL) > 3000:
			return fmt.Errorf("a button says one thing: %+v", e)
		case e.Style != "" && e.Style != "danger":
			return fmt.Errorf("style %q", e.Style)
		}
		seen[e.ActionID] = true
	}
	return nil
}

// workspace answers every message alike and gives what was posted.
func workspace(t *testing.T, answer http.HandlerFunc) (baseURL string, seen func() []posted) {
	t.Helper()
	var mu sync.Mutex
	var all []posted
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.postMessage", func(w http.ResponseWriter, r *http.Request) {
			p, err := read(r)
			if err != nil {
				t.Errorf("%v", err)
			}
			mu.Lock()
			all = append(all, p)
			mu.Unlock()
			answer(w, r)
		})
	})
	server.Start()
	t.Cleanup(server.Stop)
	return strings.TrimSuffix(server.GetAPIURL(), "/"), func() []posted {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func says(status int, header http.Header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, v := range header {
			w.Header()[name] = v
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
