package wecomtest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"curfew/notify/notifytest"
)

// limits gives the bytes of content that each type may have.
func limits() map[string]int {
	return map[string]int{"markdown": maxMarkdown, "markdown_v2": maxMarkdown, "text": maxText}
}

type content struct {
	Content   string   `json:"content"`
	Mentioned []string `json:"mentioned_list"` // of text alone
}

type link struct {
	Type  int    `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

type card struct {
	Type   string `json:"card_type"`
	Source struct {
		Desc   string `json:"desc"`
		Colour int    `json:"desc_color"`
	} `json:"source"`
	Title struct {
		Title string `json:"title"`
	} `json:"main_title"`
	Sub   string `json:"sub_title_text"`
	Facts []struct {
		Key   string `json:"keyname"`
		Value string `json:"value"`
	} `json:"horizontal_content_list"`
	Jumps  []link `json:"jump_list"`
	Action *link  `json:"card_action"`
}

type body struct {
	MsgType    string   `json:"msgtype"`
	Markdown   *content `json:"markdown"`
	MarkdownV2 *content `json:"markdown_v2"`
	Text       *content `json:"text"`
	Card       *card    `json:"template_card"`
}

func decode(raw []byte) (Message, error) {
	var b body
	if err := notifytest.Strict(raw, &b); err != nil {
		return Message{}, err
	}
	parts := map[string]*content{"markdown": b.Markdown, "markdown_v2": b.MarkdownV2, "text": b.Text}
	given := 0
	for _, part := range parts {
		if part != nil {
			given++
		}
	}
	if b.Card != nil {
		given++
	}
	part := parts[b.MsgType]
	if given != 1 || part == nil && (b.MsgType != "template_card" || b.Card == nil) {
		return Message{}, fmt.Errorf("msgtype %q must come with its own content and no other", b.MsgType)
	}
	if part == nil {
		return Message{Type: b.MsgType, Content: b.Card.words()}, b.Card.check()
	}
	return Message{Type: b.MsgType, Content: part.Content}, part.check(b.MsgType)
}

func (c content) check(kind string) error {
	switch {
	case c.Content == "":
		return fmt.Errorf("%s.content is empty", kind)
	case strings.Contains(c.Content, "<@all>"):
		return errors.New("all are mentioned")
	case len(c.Mentioned) > 0 && kind != "text":
		return fmt.Errorf("%s has no mentioned_list", kind)
	case kind == "markdown_v2" && strings.Contains(c.Content, "<font"):
		return errors.New("markdown_v2 knows no colours")
	case kind == "markdown_v2" && regexp.MustCompile(`<@\w`).MatchString(c.Content):
		return errors.New("markdown_v2 knows no mentions")
	}
	for _, id := range c.Mentioned {
		if id == "" || strings.EqualFold(strings.TrimPrefix(id, "@"), "all") {
			return fmt.Errorf("%q is mentioned", id)
		}
	}
	return nil
}

// words gives all that a card says, line by line.
func (c card) words() string {
	lines := []string{c.Title.Title, c.Sub}
	for _, f := range c.Facts {
		lines = append(lines, f.Key+": "+f.Value)
	}
	return strings.Join(lines, "\n")
}

// width counts a Chinese character as one and a Latin letter as half of one.
func width(s string) float64 {
	n := 0.0
	for _, c := range s {
		if c < 0x1100 {
			n += 0.5
		} else {
			n++
		}
	}
	return n
}

// check keeps a card within what the platform takes and advises, in Chinese
// characters.
func (c card) check() error {
	var errs []error
	within := func(what, s string, limit float64) {
		if n := width(s); n == 0 || n > limit {
			errs = append(errs, fmt.Errorf("template_card: %s has %v characters, want 1 to %v", what, n, limit))
		}
	}
	leads := func(what string, l link) {
		if u, err := url.Parse(l.URL); err != nil || l.Type != 1 || u.Host == "" {
			errs = append(errs, fmt.Errorf("template_card: %s leads nowhere: %+v", what, l))
		}
	}
	if c.Type != "text_notice" {
		errs = append(errs, fmt.Errorf("template_card: card_type is %q", c.Type))
	}
	if c.Source.Colour < 0 || c.Source.Colour > 3 {
		errs = append(errs, fmt.Errorf("template_card: desc_color is %d", c.Source.Colour))
	}
	within("source.desc", c.Source.Desc, 13)
	within("main_title.title", c.Title.Title, 26)
	if c.Sub != "" {
		within("sub_title_text", c.Sub, 112)
	}
	if len(c.Facts) > 6 || len(c.Jumps) > 3 {
		errs = append(errs, fmt.Errorf("template_card: %d facts and %d links, want at most 6 and 3", len(c.Facts), len(c.Jumps)))
	}
	for _, f := range c.Facts {
		within("keyname", f.Key, 5)
		within("value", f.Value, 26)
	}
	for _, j := range c.Jumps {
		within("jump_list.title", j.Title, 13)
		leads("jump_list", j)
	}
	if c.Action == nil {
		errs = append(errs, errors.New("template_card: card_action is missing"))
	} else {
		leads("card_action", *c.Action)
	}
	return errors.Join(errs...)
}
