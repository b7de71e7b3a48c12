package dingtalktest

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"curfew/notify/notifytest"
)

type request struct {
	MsgType string `json:"msgtype"`
	MsgUUID string `json:"msgUuid"`
	Text    *struct {
		Content string `json:"content"`
	} `json:"text"`
	Markdown *struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	} `json:"markdown"`
	ActionCard *struct {
		Title          string `json:"title"`
		Text           string `json:"text"`
		BtnOrientation string `json:"btnOrientation"`
		SingleTitle    string `json:"singleTitle"`
		SingleURL      string `json:"singleURL"`
		Buttons        []struct {
			Title     string `json:"title"`
			ActionURL string `json:"actionURL"`
		} `json:"btns"`
	} `json:"actionCard"`
	At *struct {
		Mobiles []string `json:"atMobiles"`
		UserIDs []string `json:"atUserIds"`
	} `json:"at"` // without isAtAll: nobody may wake all of a group
}

// decode reads a body and refuses what the platform's documentation does not allow.
func decode(body []byte) (Message, error) {
	var p request
	if err := notifytest.Strict(body, &p); err != nil {
		return Message{}, err
	}
	m := Message{Type: p.MsgType, UUID: p.MsgUUID}
	parts := 0
	for _, there := range []bool{p.Text != nil, p.Markdown != nil, p.ActionCard != nil} {
		if there {
			parts++
		}
	}
	switch {
	case parts == 1 && p.MsgType == "text" && p.Text != nil:
		m.Text = p.Text.Content
	case parts == 1 && p.MsgType == "markdown" && p.Markdown != nil:
		m.Title, m.Text = p.Markdown.Title, p.Markdown.Text
	case parts == 1 && p.MsgType == "actionCard" && p.ActionCard != nil:
		m.Title, m.Text = p.ActionCard.Title, p.ActionCard.Text
		if err := m.buttons(p); err != nil {
			return Message{}, err
		}
	default:
		return Message{}, fmt.Errorf("msgtype %q must come with its own content and no other", p.MsgType)
	}
	if m.Text == "" || (m.Title == "" && p.MsgType != "text") {
		return Message{}, fmt.Errorf("%s has an empty title or text", p.MsgType)
	}
	return m, m.mentions(p)
}

// buttons takes over the buttons of a card: one by its single pair, several by btns.
func (m *Message) buttons(p request) error {
	card := p.ActionCard
	switch {
	case card.SingleTitle != "" && card.SingleURL != "" && card.Buttons == nil:
		m.Buttons = []Button{{card.SingleTitle, card.SingleURL}}
	case card.SingleTitle == "" && card.SingleURL == "" && len(card.Buttons) > 1:
		for _, b := range card.Buttons {
			m.Buttons = append(m.Buttons, Button{b.Title, b.ActionURL})
		}
	default:
		return errors.New("a card has one button by singleTitle and singleURL, or several by btns")
	}
	if card.BtnOrientation != "0" && card.BtnOrientation != "1" {
		return fmt.Errorf("btnOrientation is %q, want 0 or 1", card.BtnOrientation)
	}
	for _, b := range m.Buttons {
		if u, err := url.Parse(b.URL); b.Title == "" || err != nil || u.Host == "" {
			return fmt.Errorf("button %q leads to %q", b.Title, b.URL)
		}
	}
	return nil
}

// mentions takes over who is mentioned: at most 50, each of them in the text, too.
func (m *Message) mentions(p request) error {
	if p.At == nil {
		return nil
	}
	m.AtMobiles, m.AtUserIDs = p.At.Mobiles, p.At.UserIDs
	all := append(append([]string{}, m.AtMobiles...), m.AtUserIDs...)
	if len(all) == 0 || len(all) > 50 {
		return fmt.Errorf("%d are mentioned, want 1 to 50", len(all))
	}
	for _, id := range all {
		if id == "" || !strings.Contains(m.Text, "@"+id) {
			return fmt.Errorf("%q is mentioned and not in the text", id)
		}
	}
	return nil
}
