// Package ntfy sends to a topic of ntfy, at ntfy.sh or at a server of one's own.
//
// Whoever knows the name of an open topic can read and write it, so the name counts as
// a secret as the token does: neither leaves this package.
package ntfy

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode"

	"curfew/fleet"
	"curfew/notify"
)

// The limits, in bytes. A server takes 4096 of message, makes an attachment of what is
// longer, and refuses JSON of more than twice as many. A little is kept back, since
// the phones' own services carry about 4 KB with all that is around it. Three actions
// are ntfy's limit; those of title and address are curfew's own.
const (
	maxMessage = 4000
	maxJSON    = 8000
	maxTitle   = 250
	maxAddress = 700
	maxActions = 3
)

// Kind describes the channel. ntfy takes 60 messages at once and then one every five
// seconds; ntfy.sh takes 250 a day, all of the same address or account counted
// together. A server of one's own may take more.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "ntfy",
		Title:       "ntfy",
		Credentials: []string{"topic", "token"},
		DefaultURL:  "https://ntfy.sh",
		PerMinute:   10,
		PerDay:      225,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: ntfy: %s", o.Name, what)
	}
	topic, token := o.Credential["topic"], o.Credential["token"]
	switch {
	case topic == "":
		return fail("no topic; give topic: {env: NAME} with a name that nobody guesses, the one you subscribed to")
	case strings.Contains(topic, "/"):
		return fail("topic is an address; give only the last part of it, and base_url for a server of your own")
	case !regexp.MustCompile(`^[-_0-9A-Za-z]{1,64}$`).MatchString(topic):
		return fail("topic is not a topic's name, which is 1 to 64 letters, digits, - and _")
	case strings.HasPrefix(strings.ToLower(token), "bearer ") || strings.HasPrefix(strings.ToLower(token), "basic "):
		return fail("token is a header; give only the access token itself, which begins with tk_")
	case strings.Contains(token, ":"):
		return fail("token holds a user and a password; make an access token, which begins with tk_, and give that")
	case strings.ContainsFunc(token, outside):
		return fail("token is not an access token; give one as ntfy shows it, which begins with tk_, without spaces")
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base := notify.WebURL(o.BaseURL)
	switch {
	case base == nil:
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	case strings.Trim(base.Path, "/") != "" || base.RawQuery != "":
		return fail("base_url has a path, under which no ntfy server is; give only the server, like " + Kind().DefaultURL)
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return channel{topic, notify.Poster{
		HTTP: o.HTTP, URL: base.JoinPath("/").String(), Header: header, Secrets: []string{topic, token},
	}}, nil
}

// outside reports whether a character cannot be in a token.
func outside(c rune) bool { return c > unicode.MaxASCII || !unicode.IsGraphic(c) || c == ' ' }

type channel struct {
	topic string
	post  notify.Poster
}

type payload struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title,omitempty"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Tags     []string `json:"tags,omitempty"`
	Actions  []action `json:"actions,omitempty"`
}

type action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
}

// Send posts one message, with buttons or, where that was refused, with its words
// alone.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.post.Post(ctx, compose(c.topic, m), judge)
}

// compose puts title and lines into the form ntfy takes, within its limits: in plain
// words, since a phone may show Markdown as it is written. A title that does not fit
// is told whole above the lines, and one that stands alone is told again.
func compose(topic string, m notify.Message) payload {
	p := payload{Topic: topic, Title: notify.Cut(strings.Join(strings.Fields(m.Title), " "), maxTitle)}
	p.Priority, p.Tags = priority(m)
	below := ""
	if m.Markdown != "" {
		p.Actions = views(m.Actions)
	} else if below = notify.PlainLinks(m.Actions); below != "" {
		below = "\n" + notify.Cut(below, maxMessage/2)
	}
	lines := strings.TrimSpace(m.Plain)
	if p.Title != m.Title || lines == "" {
		lines = strings.TrimSpace(m.Title + "\n" + lines)
	}
	return notify.Fit(notify.Cut(lines, maxMessage-len(below)), maxJSON, func(lines string) payload {
		p.Message = lines + below
		return p
	})
}

// priority gives how loud a message is, of 1 to 5, and the picture before its title.
// Two makes no sound.
func priority(m notify.Message) (n int, tags []string) {
	switch m.Severity {
	case fleet.Critical:
		n, tags = 5, []string{"rotating_light"}
	case fleet.Warning:
		n, tags = 4, []string{"warning"}
	default:
		n = 3
	}
	if m.Silent {
		n = 2
	}
	return n, tags
}

// views gives a button for each of the first actions that have a page.
func views(actions []notify.Action) []action {
	var all []action
	for _, a := range notify.Linked(actions) {
		if len(a.URL) <= maxAddress && len(all) < maxActions {
			all = append(all, action{"view", notify.CutRunes(strings.Join(strings.Fields(a.Label), " "), 40), a.URL})
		}
	}
	return all
}
