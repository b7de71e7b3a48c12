// Package bark sends to an iPhone by Bark, at its author's server or one of one's own.
//
// Whoever has the key of a phone can send to it, so the key never leaves this package.
// A message has an id by which the phone replaces what it shows, so that one sent
// twice shows once, and an answer to it takes its place.
package bark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// Apple takes 4096 bytes, of which a little is kept back. The title's limit, in
// characters, and that of an address, in bytes of JSON, are curfew's own.
const (
	maxPush    = 4000
	maxTitle   = 100
	maxAddress = 1000
)

const group = "curfew"

// Kind describes the channel. Bark tells no limit; that of 20 a minute is curfew's own.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "bark",
		Title:       "Bark (iPhone)",
		Credentials: []string{"key"},
		DefaultURL:  "https://api.day.app",
		PerMinute:   20,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: bark: %s", o.Name, what)
	}
	key := o.Credential["key"]
	switch {
	case key == "":
		return fail("no key; give key: {env: NAME} with what follows the server in the address that the app shows")
	case strings.Contains(key, "/"):
		return fail("key is an address; give only the part after the server, and base_url for a server of your own")
	case !regexp.MustCompile(`^[0-9A-Za-z_-]+$`).MatchString(key):
		return fail("key is not a key of Bark, which is letters and digits; give it as the app shows it")
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base := notify.WebURL(o.BaseURL)
	if base == nil {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	return channel{key, notify.Poster{HTTP: o.HTTP, URL: base.JoinPath("push").String(), Secrets: []string{key}}}, nil
}

type channel struct {
	key  string
	post notify.Poster
}

type payload struct {
	Key   string `json:"device_key"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Level string `json:"level"`
	Group string `json:"group"`
	ID    string `json:"id,omitempty"`
	URL   string `json:"url,omitempty"`
}

// Send posts one message, or, where that was refused, a shorter one.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	p := compose(m)
	p.Key = c.key
	v := c.post.Post(ctx, p, judge)
	if v.Kind == notify.VerdictOK && m.Thread != "" {
		v.Ref = p.ID // what tells of several things is not replaced by news of one of them
	}
	return v
}

// compose puts title and lines into the form Bark takes, so that Apple takes what it
// makes of them. A title that does not fit is told whole above the lines. The plain
// form, which is what is sent after a refusal, is half as long and opens no page.
func compose(m notify.Message) payload {
	p := payload{
		Title: notify.CutRunes(strings.Join(strings.Fields(m.Title), " "), maxTitle),
		Level: level(m), Group: group, ID: id(m),
	}
	room := maxPush
	if m.Markdown == "" {
		room /= 2
	} else {
		p.URL = page(m.Actions)
	}
	lines := strings.TrimSpace(m.Plain)
	if p.Title != m.Title {
		lines = strings.TrimSpace(m.Title + "\n" + lines)
	}
	return fit(p, lines, room)
}

// level says how a message shows: passive makes no sound, timeSensitive comes through
// a focus, critical also through a mute switch.
func level(m notify.Message) string {
	switch {
	case m.Silent:
		return "passive"
	case m.Severity == fleet.Critical:
		return "critical"
	case m.Severity == fleet.Warning:
		return "timeSensitive"
	}
	return "active"
}

// id is the message's on the phone: that of what it answers, else its own, which is
// the same at every attempt. Apple takes 64 bytes.
func id(m notify.Message) string {
	switch {
	case m.ReplyTo != "" && len(m.ReplyTo) <= 64:
		return m.ReplyTo
	case m.DeliveryID == "":
		return ""
	}
	sum := sha256.Sum256([]byte(m.Thread + "\n" + m.DeliveryID))
	return hex.EncodeToString(sum[:16])
}

// page is what a tap opens: the page of the first action, unless a tap too many could
// hasten something.
func page(actions []notify.Action) string {
	for _, a := range notify.Linked(actions) {
		if !a.Risky && size(a.URL) <= maxAddress {
			return a.URL
		}
	}
	return ""
}

// fit fills in as much of the lines as leaves what Bark sends to Apple at most limit
// bytes.
func fit(p payload, lines string, limit int) payload {
	const most = 6 // bytes of JSON that one byte of text can take
	for n := len(lines); ; {
		p.Body = notify.Cut(lines, n)
		over := size(push(p)) - limit
		if over <= 0 || n == 0 {
			return p
		}
		n = max(n-max(over/most, 1), 0)
	}
}

// push is what Bark's server sends to Apple, as its source has it.
func push(p payload) any {
	return map[string]any{
		"aps": map[string]any{
			"alert":    map[string]string{"title": p.Title, "subtitle": "", "body": p.Body},
			"category": "myNotificationCategory", "mutable-content": 1, "sound": "1107", "thread-id": p.Group,
		},
		"group": p.Group, "id": p.ID, "level": p.Level, "url": p.URL,
	}
}

// size is how many bytes of JSON a value takes where < takes six.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // there is nothing in it that has no JSON
	}
	return len(data)
}
