// Package serverchan sends to a person's WeChat by ServerChan (Server酱), Turbo or
// ServerChan³; the form of the key says which.
//
// Failures come with HTTP 400, and one code means both a wrong key and a spent
// day, so that the message counts too. The key is part of the address, so it
// never leaves this package.
package serverchan

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"curfew/notify"
)

// ServerChan's limits: the title in characters, the text in bytes.
const (
	maxTitle = 32
	maxDesp  = 32 << 10
)

const turboURL = "https://sctapi.ftqq.com"

// Kind describes the channel. How many messages a day it takes depends on the
// account; the limit of ten a minute is curfew's own. There is no one address:
// it follows from the key.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "serverchan",
		Title:       "ServerChan Server酱",
		Credentials: []string{"key"},
		PerMinute:   10,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: serverchan: %s", o.Name, what)
	}
	key := o.Credential["key"]
	server, sendPath := address(key)
	switch {
	case key == "":
		return fail("no key; give key: {env: NAME} with the SendKey, which begins with SCT or sctp")
	case strings.HasPrefix(key, "SCU"):
		return fail("key is of the old ServerChan, which has ended; get a SendKey that begins with SCT or sctp")
	case strings.Contains(key, "://") || strings.HasSuffix(key, ".send"):
		return fail("key is an address; give only the SendKey in it, which begins with SCT or sctp")
	case server == "":
		return fail("key is not a SendKey; give one that begins with SCT, or with sctp, your number and t")
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	if o.BaseURL != "" {
		server = o.BaseURL
	}
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return fail("base_url is not a web address; leave it out, or give one like " + turboURL)
	}
	return channel{notify.Poster{HTTP: o.HTTP, URL: base.JoinPath(sendPath).String(), Secrets: []string{key}}}, nil
}

// address says where a key is sent to, or nothing where it is none.
func address(key string) (server, path string) {
	if m := regexp.MustCompile(`^sctp(\d+)t[0-9A-Za-z]+$`).FindStringSubmatch(key); m != nil {
		return "https://" + m[1] + ".push.ft07.com", "/send/" + key + ".send"
	}
	if regexp.MustCompile(`^SCT[0-9A-Za-z]+$`).MatchString(key) {
		return turboURL, "/" + key + ".send"
	}
	return "", ""
}

type channel struct{ post notify.Poster }

type payload struct {
	Title string `json:"title"`
	Desp  string `json:"desp"`
}

// Send posts one message, as Markdown or, where that was refused, as its plain
// words.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.post.Post(ctx, compose(m), judge)
}

// compose puts title and lines into the form ServerChan takes, cut to its limits.
// A title that does not fit is told whole above the lines.
func compose(m notify.Message) payload {
	lines, bold, title := m.Markdown, "**", notify.Escape(m.Title)
	if m.Markdown == "" {
		lines, bold, title = m.Plain, "", m.Title
	}
	p := payload{Title: notify.CutRunes(m.Title, maxTitle)}
	if p.Title != m.Title {
		lines = bold + title + bold + "\n" + lines
	}
	p.Desp = notify.Cut(notify.Paragraphs(lines), maxDesp)
	return p
}
