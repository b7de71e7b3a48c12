package wecom

import (
	"regexp"
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// The robot's limits on content, in bytes.
const (
	maxMarkdown = 4096
	maxText     = 2048
	// maxMentions is how many people one message calls; curfew's own limit.
	maxMentions = 20
)

type payload struct {
	MsgType    string   `json:"msgtype"`
	Markdown   *content `json:"markdown,omitempty"`
	MarkdownV2 *content `json:"markdown_v2,omitempty"`
	Text       *text    `json:"text,omitempty"`
	Card       *card    `json:"template_card,omitempty"`
}

type content struct {
	Content string `json:"content"`
}

type text struct {
	Content   string   `json:"content"`
	Mentioned []string `json:"mentioned_list,omitempty"`
}

// compose puts a message into the form the robot takes, cut to its limits. A card
// must lead somewhere: without a link it goes out as Markdown.
func compose(m notify.Message, form string) payload {
	links := notify.Linked(m.Actions)
	switch {
	case m.Markdown == "":
		return payload{MsgType: "text", Text: &text{
			Content:   notify.CutAbove(calm(m.Title+"\n"+m.Plain), notify.PlainLinks(links), maxText),
			Mentioned: mentioned(m),
		}}
	case form == formCard && len(links) > 0:
		return payload{MsgType: formCard, Card: asCard(m, links)}
	case form == formMarkdownV2:
		title := "**" + notify.Escape(m.Title) + "**\n"
		return payload{MsgType: formMarkdownV2, MarkdownV2: &content{notify.CutAbove(title+m.Markdown, notify.Links(links), maxMarkdown)}}
	}
	// The robot knows three colours: info is green, warning is orange.
	colour := "info"
	if m.Severity.Rank() >= fleet.Warning.Rank() {
		colour = "warning"
	}
	title := `**<font color="` + colour + `">` + notify.Escape(m.Title) + "</font>**\n"
	tail := notify.Links(links)
	if who := mentioned(m); len(who) > 0 {
		tail = strings.TrimPrefix(tail+"\n<@"+strings.Join(who, "> <@")+">", "\n")
	}
	return payload{MsgType: formMarkdown, Markdown: &content{notify.CutAbove(title+m.Markdown, tail, maxMarkdown)}}
}

// calm keeps plain words from calling anybody: the robot reads <@somebody> in them.
func calm(s string) string { return strings.ReplaceAll(s, "<@", "<\u200b@") }

// mentioned gives those whom the message calls: members of the company, never all,
// and nobody where it is to make no sound.
func mentioned(m notify.Message) []string {
	var ids []string
	for _, id := range m.Mentions {
		if regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_.@-]{0,63}$`).MatchString(id) && !strings.EqualFold(id, "all") {
			ids = append(ids, id)
		}
	}
	if m.Silent {
		return nil
	}
	return ids[:min(len(ids), maxMentions)]
}
