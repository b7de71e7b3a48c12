package feishu

import (
	"regexp"
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// The bot's limits: the whole body in bytes, and a button's words in characters. The
// title shows in four lines; where that ends, and the others, are ours.
const (
	maxBody     = 20_000
	maxLabel    = 100
	maxTitle    = 100 // characters
	maxMentions = 20
	maxButtons  = 5
	maxURL      = 1500 // bytes
)

type signature struct {
	Timestamp string `json:"timestamp,omitempty"`
	Sign      string `json:"sign,omitempty"`
}

type payload struct {
	signature
	MsgType string   `json:"msg_type"`
	Content *content `json:"content,omitempty"`
	Card    *card    `json:"card,omitempty"`
}

type content struct {
	Text string `json:"text"`
}

// card is one of JSON 2.0, which refuses what it does not know.
type card struct {
	Schema string `json:"schema"`
	Header header `json:"header"`
	Body   body   `json:"body"`
}

type header struct {
	Title    plainText `json:"title"`
	Template string    `json:"template"` // its colour
}

type plainText struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

type body struct {
	Elements []element `json:"elements"`
}

// element is words in Markdown, or a button.
type element struct {
	Tag       string     `json:"tag"`
	Content   string     `json:"content,omitempty"`
	Text      *plainText `json:"text,omitempty"`
	Type      string     `json:"type,omitempty"`
	Behaviors []behavior `json:"behaviors,omitempty"`
}

type behavior struct {
	Type       string `json:"type"`
	DefaultURL string `json:"default_url"`
}

// compose puts title and lines into the form the bot takes, cut to its limits. A title
// that does not fit is told whole above the lines.
func compose(m notify.Message, s signature) payload {
	if m.Markdown == "" {
		names := mention(m.Mentions, `<at user_id="`, `">`)
		return notify.Fit(harmless(m.Title+"\n"+m.Plain), maxBody, func(words string) payload {
			return payload{signature: s, MsgType: "text", Content: &content{join(words, names)}}
		})
	}
	c := card{Schema: "2.0", Header: header{Title: plainText{"plain_text", notify.CutRunes(m.Title, maxTitle)}, Template: colour(m)}}
	lines := m.Markdown
	if c.Header.Title.Content != m.Title {
		lines = "**" + notify.Escape(m.Title) + "**\n" + lines
	}
	names, buttons := mention(m.Mentions, "<at id=", ">"), links(m.Actions)
	return notify.Fit(harmless(lines), maxBody, func(words string) payload {
		c := c
		c.Body.Elements = append([]element{{Tag: "markdown", Content: join(words, names)}}, buttons...)
		return payload{signature: s, MsgType: "interactive", Card: &c}
	})
}

func join(words, names string) string {
	if names == "" {
		return words
	}
	return words + "\n" + names
}

// colour is that of the card's title.
func colour(m notify.Message) string {
	switch {
	case m.Severity.Rank() >= fleet.Critical.Rank():
		return "red"
	case m.Severity.Rank() >= fleet.Warning.Rank():
		return "orange"
	case m.Event == notify.EventDone, m.Event == notify.EventResolved:
		return "green"
	}
	return "blue"
}

// links gives the buttons of the actions that have a page, of which the first stands
// out.
func links(actions []notify.Action) []element {
	var all []element
	for _, a := range notify.Linked(actions) {
		if len(a.URL) > maxURL || len(all) == maxButtons {
			continue
		}
		kind := "default"
		switch {
		case a.Risky:
			kind = "danger"
		case len(all) == 0:
			kind = "primary"
		}
		all = append(all, element{
			Tag: "button", Type: kind,
			Text:      &plainText{"plain_text", notify.CutRunes(a.Label, maxLabel)},
			Behaviors: []behavior{{"open_url", a.URL}},
		})
	}
	return all
}

// mention gives the tags that mention people by their open_id or user_id, but never
// all of the group.
func mention(ids []string, before, after string) string {
	var all []string
	for _, id := range ids {
		if len(all) == maxMentions || strings.EqualFold(id, "all") || !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(id) {
			continue
		}
		name := ""
		if strings.Contains(before, "user_id") {
			name = id // shown where nobody has that id
		}
		all = append(all, before+id+after+name+"</at>")
	}
	return strings.Join(all, " ")
}

// harmless keeps words that came from outside from mentioning anybody: in text and in
// code, too, the platform may read its own tags.
func harmless(s string) string {
	return regexp.MustCompile(`(?i)<(\s*at\b)`).ReplaceAllString(s, "<\u200b$1")
}
