package wecom

import (
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// What the platform advises for a card, in the width of Latin letters, of which it
// advises half as many Chinese characters; and how many entries it takes. Whether it
// refuses more or only shows less is not known. The width of a link's title is
// curfew's own guess.
const (
	maxTitle   = 2 * 26
	maxSub     = 2 * 112
	maxKey     = 2 * 5
	maxValue   = 2 * 26
	maxFacts   = 6
	maxJumps   = 3
	maxJumpLen = 2 * 13
)

// card is a text_notice, the one kind of card that needs no picture.
type card struct {
	Type   string `json:"card_type"`
	Source source `json:"source"`
	Title  struct {
		Title string `json:"title"`
	} `json:"main_title"`
	Sub    string `json:"sub_title_text,omitempty"`
	Facts  []fact `json:"horizontal_content_list,omitempty"`
	Jumps  []jump `json:"jump_list,omitempty"`
	Action jump   `json:"card_action"`
}

type source struct {
	Desc   string `json:"desc"`
	Colour int    `json:"desc_color"`
}

// The colours of a source.
const (
	black = 1
	red   = 2
	green = 3
)

type fact struct {
	Key   string `json:"keyname"`
	Value string `json:"value"`
}

type jump struct {
	Type  int    `json:"type"` // 1: opens the address
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// asCard puts a message into a card. What of its lines is a name and a value goes
// into the list, as far as the platform's advice allows; the rest stands above it.
func asCard(m notify.Message, links []notify.Action) *card {
	c := &card{Type: "text_notice", Source: source{"curfew", colour(m.Severity)}, Action: jump{Type: 1, URL: links[0].URL}}
	lines := strings.Split(m.Plain, "\n")
	c.Title.Title = cutWidth(m.Title, maxTitle)
	if c.Title.Title != m.Title {
		lines = append([]string{m.Title}, lines...)
	}
	var rest []string
	for _, line := range lines {
		var left []string
		for part := range strings.SplitSeq(line, " · ") {
			if f, ok := asFact(part); ok && len(c.Facts) < maxFacts && line != m.Title {
				c.Facts = append(c.Facts, f)
			} else {
				left = append(left, part)
			}
		}
		if s := strings.TrimSpace(strings.Join(left, " · ")); s != "" {
			rest = append(rest, s)
		}
	}
	c.Sub = cutWidth(strings.Join(rest, "\n"), maxSub)
	for _, l := range links[:min(len(links), maxJumps)] {
		c.Jumps = append(c.Jumps, jump{Type: 1, URL: l.URL, Title: cutWidth(l.Label, maxJumpLen)})
	}
	return c
}

// asFact reads "name: value" where both are short enough to be shown whole.
func asFact(s string) (fact, bool) {
	key, value, ok := strings.Cut(s, "：")
	if !ok {
		key, value, ok = strings.Cut(s, ": ")
	}
	f := fact{strings.TrimSpace(key), strings.TrimSpace(value)}
	short := func(s string, limit int) bool { return s != "" && width(s) <= limit }
	return f, ok && short(f.Key, maxKey) && short(f.Value, maxValue)
}

func colour(s fleet.Severity) int {
	switch s {
	case fleet.Critical:
		return red
	case fleet.Warning:
		return black
	}
	return green
}

// width is how wide words are, a Latin letter being one.
func width(s string) int {
	n := 0
	for _, c := range s {
		n += runeWidth(c)
	}
	return n
}

func runeWidth(c rune) int {
	const wide = 0x1100 // from here on stand the scripts of East Asia, and pictures
	if c >= wide {
		return 2
	}
	return 1
}

// cutWidth shortens words to a width and shows that there is more.
func cutWidth(s string, limit int) string {
	if width(s) <= limit {
		return s
	}
	n := 2 // of what shows it
	for i, c := range s {
		if n += runeWidth(c); n > limit {
			return s[:i] + "…"
		}
	}
	return s
}
