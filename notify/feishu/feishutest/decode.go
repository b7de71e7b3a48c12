package feishutest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"unicode/utf8"

	"curfew/notify/notifytest"
)

type stamp struct {
	Timestamp string `json:"timestamp"`
	Sign      string `json:"sign"`
}

type plainText struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

type element struct {
	Tag       string     `json:"tag"`
	Content   string     `json:"content"`
	Text      *plainText `json:"text"`
	Type      string     `json:"type"`
	Behaviors []struct {
		Type       string `json:"type"`
		DefaultURL string `json:"default_url"`
	} `json:"behaviors"`
}

type request struct {
	stamp
	MsgType string `json:"msg_type"`
	Content *struct {
		Text string `json:"text"`
	} `json:"content"`
	Card *struct {
		Schema string `json:"schema"`
		Header struct {
			Title    plainText `json:"title"`
			Template string    `json:"template"`
		} `json:"header"`
		Body struct {
			Elements []element `json:"elements"`
		} `json:"body"`
	} `json:"card"`
}

// decode reads a body and refuses what the platform's documentation does not allow,
// and a mention of all of the group.
func decode(body []byte) (Message, stamp, error) {
	var p request
	if err := notifytest.Strict(body, &p); err != nil {
		return Message{}, stamp{}, err
	}
	m := Message{Type: p.MsgType}
	var err error
	switch {
	case p.MsgType == "text" && p.Content != nil && p.Card == nil:
		m.Text = p.Content.Text
	case p.MsgType == "interactive" && p.Card != nil && p.Content == nil:
		err = m.card(p)
	default:
		err = fmt.Errorf("msg_type %q must come with its own content and no other", p.MsgType)
	}
	if err == nil && m.Text == "" {
		err = fmt.Errorf("%s has no words", p.MsgType)
	}
	if err == nil && regexp.MustCompile(`(?i)<\s*at\s+(user_)?ids?\s*=\s*["']?all`).MatchString(m.Text) {
		err = errors.New("all of the group are mentioned")
	}
	return m, p.stamp, err
}

// card takes over a card of JSON 2.0: words, and then buttons that lead somewhere.
func (m *Message) card(p request) error {
	h := p.Card.Header
	if p.Card.Schema != "2.0" || h.Title.Tag != "plain_text" || h.Title.Content == "" {
		return errors.New("the card is not one of JSON 2.0 with a title")
	}
	if !slices.Contains([]string{"red", "orange", "green", "blue"}, h.Template) {
		return fmt.Errorf("template %q", h.Template)
	}
	m.Title, m.Template = h.Title.Content, h.Template
	for n, e := range p.Card.Body.Elements {
		switch {
		case n == 0 && e.Tag == "markdown" && e.Text == nil && e.Behaviors == nil && e.Type == "":
			m.Text = e.Content
		case n > 0 && e.Tag == "button" && e.Content == "" && e.Text != nil && len(e.Behaviors) == 1:
			b := Button{e.Text.Content, e.Type, e.Behaviors[0].DefaultURL}
			u, err := url.Parse(b.URL)
			if err != nil || u.Host == "" || e.Behaviors[0].Type != "open_url" || e.Text.Tag != "plain_text" ||
				utf8.RuneCountInString(b.Text) > 100 || !slices.Contains([]string{"default", "primary", "danger"}, b.Type) {
				return fmt.Errorf("button %+v", b)
			}
			m.Buttons = append(m.Buttons, b)
		default:
			return fmt.Errorf("element %d is a %q with wrong fields", n, e.Tag)
		}
	}
	return nil
}
