package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/internal/press"
	"curfew/notify"
)

// phone is a channel with buttons: it keeps what it took, and whoever holds it can
// press.
type phone struct {
	chat
	presses chan call
	mu      sync.Mutex
	ears    int // how many listen now
	drops   int // so many times the connection ends at once
}

// call is a press and where its answer goes.
type call struct {
	press notify.Press
	heard chan answered
}

type answered struct {
	notify.Heard
	err error
}

// Hears names the wire: all phones hang on it.
func (p *phone) Hears() string { return "wire" }

// Listen takes presses until ctx is done.
func (p *phone) Listen(ctx context.Context, hear notify.Hear) error {
	p.mu.Lock()
	if p.drops > 0 {
		p.drops--
		p.mu.Unlock()
		return errors.New("the line is dead")
	}
	p.ears++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ears--
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c := <-p.presses:
			h, err := hear(ctx, c.press)
			c.heard <- answered{h, err}
			if err != nil {
				return err
			}
		}
	}
}

// listeners counts who listens on a phone now.
func (p *phone) listeners() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ears
}

// pressLab is a lab that tells by two phones on one wire and by mail.
type pressLab struct {
	*lab
	phones map[string]*phone
	wire   chan call
	mail   *chat
}

const pageAt = "127.0.0.1:8420"

func newPressLab(t *testing.T, then string, more ...string) *pressLab {
	t.Helper()
	p := &pressLab{lab: newLab(t, then, append(more, "listen: \""+pageAt+"\"\npublic_url: https://curfew.example\n")...), phones: map[string]*phone{}, wire: make(chan call), mail: &chat{}}
	p.kinds = []notify.Kind{
		{Name: "phone", Credentials: []string{"token"}, Buttons: "token", UserID: "^[0-9]+$", UserLike: "42", Open: func(o notify.Options) (notify.Channel, error) {
			return p.phone(o.Name), nil
		}},
		{Name: "post", NoSecrets: true, Open: func(notify.Options) (notify.Channel, error) { return p.mail, nil }},
	}
	p.yaml = strings.Replace(p.yaml, "    - {name: me, type: console}\n", `    - {name: me, type: console}
    - {name: lab, type: phone, token: {file: t}, users: [42, 43]}
    - {name: boss, type: phone, token: {file: t}, users: [1], language: zh}
    - {name: inbox, type: post}
`, 1)
	return p
}

func (p *pressLab) phone(name string) *phone {
	if p.phones[name] == nil {
		p.phones[name] = &phone{presses: p.wire}
	}
	return p.phones[name]
}

// announced lets a run end and its stop be announced.
func announced(t *testing.T, more ...string) *pressLab {
	t.Helper()
	p := newPressLab(t, "stop", more...)
	p.cloud.MustAdd(trained("a", -8*time.Minute, 0))
	p.restart()
	p.run(2 * time.Minute)
	p.wantTold("Will stop exp-a", 1)
	return p
}

// last gives what the newest message with actions on a channel can be answered by.
func (p *pressLab) last(c *chat) notify.Message {
	p.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := len(c.took) - 1; n >= 0; n-- {
		if len(c.took[n].Actions) > 0 {
			return c.took[n].Message
		}
	}
	p.t.Fatal("no message can be answered")
	return notify.Message{}
}

// value gives a button's or a link's of the newest message.
func (p *pressLab) value(c *chat, what press.What) string {
	p.t.Helper()
	m := p.last(c)
	for n, w := range []press.What{press.HoldHour, press.HoldMorning, press.Never, press.Now} {
		if w == what || n == 3 && what == press.Approve {
			if v, ok := strings.CutPrefix(m.Actions[n].URL, "https://curfew.example/a/"); ok {
				return v
			}
			return m.Actions[n].Value
		}
	}
	p.t.Fatalf("there is no %s", what)
	return ""
}

// press presses a button as somebody.
func (p *pressLab) press(user, value string) answered {
	p.t.Helper()
	c := call{notify.Press{Value: value, User: user, Name: map[string]string{"42": "Wang\u200b Wei\n", "43": "Li"}[user]}, make(chan answered, 1)}
	select {
	case p.wire <- c:
		return <-c.heard
	case <-time.After(10 * time.Minute):
		p.t.Fatal("nobody listens")
		return answered{}
	}
}

func (p *pressLab) wantHeard(a answered, settled bool, words string) {
	p.t.Helper()
	if a.err != nil || a.Settled != settled || !strings.Contains(a.Words, words) {
		p.t.Errorf("heard %+v, want settled %v and %q", a, settled, words)
	}
}

// web asks for a page, and gives status and body.
func (p *pressLab) web(method, path string, form url.Values) (int, string) {
	p.t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: p.lab.wire.dial, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(p.t.Context(), method, "http://"+pageAt+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// formOf gives what the form of a page holds.
func (p *pressLab) formOf(body string) url.Values {
	p.t.Helper()
	m := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(body)
	if m == nil {
		p.t.Fatalf("the page has no form: %s", body)
	}
	return url.Values{"form": {m[1]}}
}
