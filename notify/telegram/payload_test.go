package telegram_test

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// payload is a message as Telegram documents it, as far as curfew uses it.
type payload struct {
	Chat      any    `json:"chat_id"`
	Text      string `json:"text"`
	ParseMode string `json:"parse_mode"`
	Preview   struct {
		Disabled bool `json:"is_disabled"`
	} `json:"link_preview_options"`
	Silent bool `json:"disable_notification"`
	Reply  *struct {
		MessageID int64 `json:"message_id"`
		Anyway    bool  `json:"allow_sending_without_reply"`
	} `json:"reply_parameters"`
	Markup *struct {
		Rows [][]struct {
			Text  string `json:"text"`
			URL   string `json:"url"`
			Value string `json:"callback_data"`
		} `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

// check keeps Telegram's limits, and refuses HTML that it would not take.
func (p payload) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	text := p.Text
	switch p.ParseMode {
	case "HTML":
		words, err := read(p.Text)
		if err != nil {
			errs = append(errs, err)
		}
		text = words
	case "":
		if p.Markup != nil {
			bad("plain words have buttons")
		}
	default:
		bad("parse_mode is %q", p.ParseMode)
	}
	if n := len(utf16.Encode([]rune(text))); n < 1 || n > 4096 {
		bad("text has %d UTF-16 units, want 1 to 4096", n)
	}
	if !utf8.ValidString(p.Text) || strings.TrimSpace(text) == "" || !p.Preview.Disabled {
		bad("text is empty or no UTF-8, or links are previewed")
	}
	if p.Markup != nil {
		for _, row := range p.Markup.Rows {
			if len(row) < 1 || len(row) > 8 {
				bad("a row of %d buttons", len(row))
			}
			for _, b := range row {
				if b.Text == "" || (b.URL == "") == (b.Value == "") || len(b.Value) > 64 {
					bad("button %+v", b)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// read gives the words of Telegram's HTML. Tags must be known ones, closed in their
// order; nothing is within code, and no quote within a quote.
func read(markup string) (string, error) {
	var open []string
	rest := regexp.MustCompile(`<[^<>]*>`).ReplaceAllStringFunc(markup, func(tag string) string {
		name, ending := strings.CutPrefix(strings.Trim(tag, "<>"), "/")
		if regexp.MustCompile(`^a href="(https?://|tg://user\?id=)[^"<>\s]*"$`).MatchString(name) {
			name = "a"
		}
		switch {
		case !slices.Contains([]string{"a", "b", "code", "blockquote"}, name):
			open = append(open, "unknown "+tag)
		case ending && len(open) > 0 && open[len(open)-1] == name:
			open = open[:len(open)-1]
		case ending, slices.Contains(open, "code"), slices.Contains(open, name):
			open = append(open, "misplaced "+tag)
		default:
			open = append(open, name)
		}
		return ""
	})
	if len(open) > 0 {
		return rest, fmt.Errorf("tags are left open or wrong: %q in %q", open, markup)
	}
	if strings.ContainsAny(rest, "<>") {
		return rest, fmt.Errorf("a bare < or >: %q", markup)
	}
	if bare := regexp.MustCompile(`&(lt;|gt;|amp;|quot;)?`).FindAllString(rest, -1); slices.Contains(bare, "&") {
		return rest, fmt.Errorf("a bare &: %q", markup)
	}
	return html.UnescapeString(rest), nil
}
