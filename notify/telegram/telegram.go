// Package telegram sends to a Telegram chat by a bot.
//
// Whoever has the bot's token can write in its name and read what it is sent. It is
// part of the address, so it never leaves this package. Of what the bot is told only the
// presses of its buttons are read.
package telegram

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"curfew/notify"
)

// Telegram's limits: the text in UTF-16 code units, as a client counts; the value of
// a button in bytes. How much of the text a title and what stands below the lines may
// take, and the rest, are curfew's own.
const (
	maxText     = 4096
	maxValue    = 64
	maxTitle    = 1024
	maxBelow    = 1500
	maxMarkdown = 16 << 10 // bytes that are turned into HTML
	maxLabel    = 64       // characters
	maxAddress  = 1000     // bytes
	maxButtons  = 8
	perRow      = 2
)

// Kind describes the channel. Telegram takes 20 messages a minute in a group and one
// a second in any chat.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "telegram",
		Title:       "Telegram",
		Credentials: []string{"token"},
		Settings:    []string{"chat"},
		Buttons:     "token",
		UserID:      `^[1-9][0-9]{0,15}$`,
		UserLike:    "123456789",
		DefaultURL:  "https://api.telegram.org",
		PerMinute:   18,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: telegram: %s", o.Name, what)
	}
	token := o.Credential["token"]
	switch {
	case token == "":
		return fail("no token; give token: {env: NAME} with the token that BotFather gave for the bot")
	case strings.Contains(token, "://") || strings.HasPrefix(token, "bot"):
		return fail("token is an address or part of one; give only what follows bot in it, like 123456789:AA…")
	case !regexp.MustCompile(`^[0-9]+:[0-9A-Za-z_-]+$`).MatchString(token):
		return fail("token is not a bot's token; give the one BotFather shows, which is a number, a colon and letters")
	}
	chat, problem := readChat(o.Settings["chat"])
	switch {
	case problem != "":
		return fail(problem)
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base := notify.WebURL(o.BaseURL)
	if base == nil {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	_, secret, _ := strings.Cut(token, ":")
	return channel{
		chat: chat, hears: fingerprint(base.Host, token),
		post: notify.Poster{HTTP: o.HTTP, URL: base.JoinPath("bot"+token, sendMessage).String(), Secrets: []string{token, secret}},
	}, nil
}

// readChat gives a chat as Telegram wants it, a number or a name, or what is wrong
// with it.
func readChat(s string) (chat any, problem string) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case s == "":
		return nil, "no chat; give chat: with the chat's number, which is below zero for a group, or with \"@name\" of a public one"
	case err == nil && n != 0:
		return n, ""
	case regexp.MustCompile(`^@[A-Za-z][0-9A-Za-z_]{3,31}$`).MatchString(s):
		return s, ""
	case strings.Contains(s, "t.me/") || strings.Contains(s, "://"):
		return nil, "chat is an address; give the chat's number, or \"@name\" of a public one"
	}
	return nil, "chat is neither a number nor a name; give the number, like -1001234567890, or \"@name\" of a public chat"
}

type channel struct {
	chat  any // an int64, or a string
	post  notify.Poster
	hears string // the same for all channels of one bot
}

type payload struct {
	Chat      any         `json:"chat_id"`
	Text      string      `json:"text"`
	ParseMode string      `json:"parse_mode,omitempty"`
	Preview   linkPreview `json:"link_preview_options"`
	Silent    bool        `json:"disable_notification,omitempty"`
	Reply     *reply      `json:"reply_parameters,omitempty"`
	Markup    *keyboard   `json:"reply_markup,omitempty"`
}

type linkPreview struct {
	Disabled bool `json:"is_disabled"`
}

type reply struct {
	MessageID int64 `json:"message_id"`
	// Anyway sends it also where the other message was deleted.
	Anyway bool `json:"allow_sending_without_reply"`
}

type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

type button struct {
	Text  string `json:"text"`
	URL   string `json:"url,omitempty"`
	Value string `json:"callback_data,omitempty"`
}

// Send posts one message, as HTML with buttons or, where that was refused, as its
// plain words alone.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	p := compose(m)
	p.Chat = c.chat
	return c.post.Post(ctx, p, judge)
}

// compose puts title and lines into the form Telegram takes, within its limits. The
// plain form has no buttons, since one of them may be what was refused.
func compose(m notify.Message) payload {
	p := payload{Preview: linkPreview{Disabled: true}, Silent: m.Silent}
	if id, err := strconv.ParseInt(m.ReplyTo, 10, 64); err == nil && id > 0 {
		p.Reply = &reply{MessageID: id, Anyway: true}
	}
	if m.Markdown == "" {
		title := fit(m.Title, maxTitle, quiet, units)
		below := join(maxBelow, units, append(mentions(m.Mentions, false), addresses(m.Actions, false, strings.TrimSpace)...))
		room := maxText - units(title) - units(below) - 1
		p.Text = title + "\n" + fit(m.Plain, room, quiet, units) + below
		return p
	}
	title := "<b>" + fit(m.Title, maxTitle, escape, shown) + "</b>"
	below := join(maxBelow, shown, append(mentions(m.Mentions, true), addresses(m.Actions, true, escapeCode)...))
	room := maxText - shown(title) - shown(below) - 1
	p.ParseMode = "HTML"
	p.Text = title + "\n" + fit(notify.Cut(m.Markdown, maxMarkdown), room, markup, shown) + below
	p.Markup = buttons(m.Actions)
	return p
}

// join puts lines below others, as far as there is room.
func join(limit int, size func(string) int, lines []string) string {
	out := ""
	for _, line := range lines {
		if longer := out + "\n" + line; size(longer) <= limit {
			out = longer
		}
	}
	return out
}
