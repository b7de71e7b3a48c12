package slack

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"curfew/notify"
)

// Slack's limits, in characters and blocks.
const (
	maxText    = 3000
	maxHeader  = 150
	maxSection = 3000
	maxButton  = 75
	maxValue   = 2000
	maxURL     = 3000
	// maxButtons and maxMentions are curfew's own: Slack takes 25 buttons.
	maxButtons  = 10
	maxMentions = 20
)

// buttonsID names the block of buttons, and with a number each of them.
const buttonsID = "curfew"

type payload struct {
	// Text is what notifications show, and the whole message where there are no
	// blocks.
	Text   string        `json:"text"`
	Blocks []slack.Block `json:"blocks,omitempty"`
}

// compose puts a message into the form Slack takes, within its limits. What a reader
// can say to it is a button, or a link where there can be none: somebody must be there
// to hear of a button.
func compose(m notify.Message, buttons bool) payload {
	who, words := mentions(m), strings.TrimSpace(m.Title+"\n"+m.Plain)
	if m.Markdown == "" {
		tail := shorten(notify.PlainLinks(m.Actions), maxText/2, escape)
		return payload{Text: join(who, shorten(words, maxText-len(who)-utf8.RuneCountInString(tail)-2, escape), tail)}
	}
	p := payload{Text: join(who, shorten(words, maxText-len(who)-1, escape))}
	if title := shorten(strings.TrimSpace(m.Title), maxHeader, escape); title != "" {
		p.Blocks = append(p.Blocks, slack.NewHeaderBlock(plain(title)))
	}
	for _, s := range append([]string{who}, sections(m.Markdown)...) {
		p.Blocks = appendSection(p.Blocks, s)
	}
	if !buttons {
		p.Blocks = appendSection(p.Blocks, links(m.Actions))
	} else if all := asButtons(m.Actions); len(all) > 0 {
		p.Blocks = append(p.Blocks, slack.NewActionBlock(buttonsID, all...))
	}
	return p
}

// join puts the parts that say something below each other.
func join(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n")
}

// plain are words as they are. With emoji, :words: of a name would become pictures.
func plain(words string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: words, Emoji: new(bool)}
}

// appendSection adds words in Slack's markup, of which there may be none. Verbatim
// keeps Slack from making mentions and links out of plain words.
func appendSection(blocks []slack.Block, markup string) []slack.Block {
	if markup == "" {
		return blocks
	}
	return append(blocks, slack.NewSectionBlock(&slack.TextBlockObject{Type: slack.MarkdownType, Text: markup, Verbatim: true}, nil, nil))
}

// mentions calls people by their ids, never a whole channel, and nobody where the
// message is to make no sound.
func mentions(m notify.Message) string {
	var all []string
	for _, id := range m.Mentions {
		if regexp.MustCompile(`^[UW][0-9A-Z]{2,32}$`).MatchString(id) && len(all) < maxMentions && !m.Silent {
			all = append(all, "<@"+id+">")
		}
	}
	return strings.Join(all, " ")
}

// links gives the actions that have an address, in Slack's markup, as far as a section
// holds them.
func links(actions []notify.Action) string {
	s := ""
	for _, a := range notify.Linked(actions) {
		link := "<" + escape(a.URL) + "|" + shorten(a.Label, maxButton, escape) + ">"
		if s != "" {
			link = " · " + link
		}
		if utf8.RuneCountInString(s+link) <= maxSection {
			s += link
		}
	}
	return s
}

// asButtons makes a button of each action: one that says its value, else one that
// opens its address.
func asButtons(actions []notify.Action) []slack.BlockElement {
	var all []slack.BlockElement
	for _, a := range actions {
		b := &slack.ButtonBlockElement{
			Type: slack.METButton, ActionID: buttonsID + "-" + strconv.Itoa(len(all)+1),
			Text: plain(shorten(a.Label, maxButton, escape)),
		}
		switch linked := len(notify.Linked([]notify.Action{a})) > 0; {
		case len(all) == maxButtons || strings.TrimSpace(a.Label) == "":
			continue
		case a.Value != "" && utf8.RuneCountInString(a.Value) <= maxValue:
			b.Value = a.Value
		case linked && len(a.URL) <= maxURL:
			b.URL = a.URL
		default:
			continue
		}
		if a.Risky {
			b.Style = slack.StyleDanger
		}
		all = append(all, b)
	}
	return all
}
