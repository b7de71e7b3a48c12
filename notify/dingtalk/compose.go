package dingtalk

import (
	"net/url"
	"regexp"
	"strings"

	"curfew/notify"
)

// The robot's limits: the whole body in bytes, and the people one message mentions.
// What it takes of title and buttons is not told; these are ours.
const (
	maxBody     = 20_000
	maxPlain    = 10_000 // a message that was refused for its length gets shorter
	maxMentions = 50
	maxTitle    = 100 // characters, in the list of conversations
	maxButtons  = 5
	maxLabel    = 40   // characters
	maxURL      = 1500 // bytes
)

type payload struct {
	MsgType    string      `json:"msgtype"`
	MsgUUID    string      `json:"msgUuid,omitempty"`
	Text       *text       `json:"text,omitempty"`
	Markdown   *markdown   `json:"markdown,omitempty"`
	ActionCard *actionCard `json:"actionCard,omitempty"`
	At         *mentions   `json:"at,omitempty"`
}

type text struct {
	Content string `json:"content"`
}

type markdown struct {
	Title string `json:"title"` // for the list of conversations; not part of the message
	Text  string `json:"text"`
}

// actionCard has one button by singleTitle and singleURL, or several by btns.
type actionCard struct {
	Title          string   `json:"title"`
	Text           string   `json:"text"`
	BtnOrientation string   `json:"btnOrientation"` // 0: one below the other
	SingleTitle    string   `json:"singleTitle,omitempty"`
	SingleURL      string   `json:"singleURL,omitempty"`
	Buttons        []button `json:"btns,omitempty"`
}

type button struct {
	Title     string `json:"title"`
	ActionURL string `json:"actionURL"`
}

// mentions has no isAtAll: nobody is to wake all of a group.
type mentions struct {
	Mobiles []string `json:"atMobiles,omitempty"`
	UserIDs []string `json:"atUserIds,omitempty"`
}

// compose puts title and lines into the form the robot takes, cut to its limits. As
// text it has no buttons: an address is one of the things that are refused.
func compose(m notify.Message, uuid string) payload {
	at, names := mention(m.Mentions)
	if m.Markdown == "" {
		return notify.Fit(m.Title+"\n"+m.Plain, maxPlain, func(s string) payload {
			return payload{MsgType: "text", MsgUUID: uuid, Text: &text{join(s, "\n", names)}, At: at}
		})
	}
	title, lines := notify.Escape(m.Title), m.Markdown
	buttons := links(m.Actions)
	if len(buttons) > 0 {
		// In a card the words alone mention somebody.
		title, lines = noMention(title), noMention(lines)
	}
	return notify.Fit("**"+title+"**\n\n"+notify.Paragraphs(lines), maxBody, func(s string) payload {
		return marked(payload{MsgUUID: uuid, At: at}, notify.CutRunes(m.Title, maxTitle), join(s, "\n\n", names), buttons)
	})
}

// marked completes a message in Markdown, with its buttons where it has any.
func marked(p payload, title, words string, buttons []button) payload {
	if len(buttons) == 0 {
		p.MsgType, p.Markdown = "markdown", &markdown{Title: title, Text: words}
		return p
	}
	p.MsgType, p.ActionCard = "actionCard", &actionCard{Title: title, Text: words, BtnOrientation: "0"}
	if len(buttons) == 1 {
		p.ActionCard.SingleTitle, p.ActionCard.SingleURL = buttons[0].Title, buttons[0].ActionURL
	} else {
		p.ActionCard.Buttons = buttons
	}
	return p
}

func join(words, by, names string) string {
	if names == "" {
		return words
	}
	return words + by + names
}

// links gives the buttons of the actions that have a page. On a computer it opens in
// the browser instead of DingTalk's side panel.
func links(actions []notify.Action) []button {
	var all []button
	for _, a := range notify.Linked(actions) {
		to := "dingtalk://dingtalkclient/page/link?" + url.Values{"url": {a.URL}, "pc_slide": {"false"}}.Encode()
		if len(to) <= maxURL && len(all) < maxButtons {
			all = append(all, button{notify.CutRunes(a.Label, maxLabel), to})
		}
	}
	return all
}

// mention says whom the robot has to mention, and what must stand in the words for
// it. A number of eleven digits that begins with 1 is a mobile number, anything else a
// user id; what can be neither is left out, and so is all.
func mention(ids []string) (at *mentions, names string) {
	at = &mentions{}
	var all []string
	for _, id := range ids {
		if len(all) == maxMentions || strings.EqualFold(id, "all") || !regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`).MatchString(id) {
			continue
		}
		if regexp.MustCompile(`^1\d{10}$`).MatchString(id) {
			at.Mobiles = append(at.Mobiles, id)
		} else {
			at.UserIDs = append(at.UserIDs, id)
		}
		all = append(all, "@"+id)
	}
	if all == nil {
		return nil, ""
	}
	return at, strings.Join(all, " ")
}

// noMention keeps words from mentioning anybody, by an invisible space.
func noMention(s string) string { return strings.ReplaceAll(s, "@", "@\u200b") }
