package telegram

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"curfew/notify"
)

// mentions gives a line for the people a message is for: names, and numbers where
// markup can hold them. Telegram knows no mention of everybody.
func mentions(people []string, markup bool) []string {
	var all []string
	for _, who := range people {
		name := strings.TrimPrefix(who, "@")
		switch {
		case regexp.MustCompile(`^[A-Za-z][0-9A-Za-z_]{3,31}$`).MatchString(name):
			all = append(all, "@"+name)
		case markup && regexp.MustCompile(`^[1-9][0-9]{0,15}$`).MatchString(who):
			all = append(all, `<a href="tg://user?id=`+who+`">`+who+"</a>")
		}
	}
	if len(all) == 0 {
		return nil
	}
	const most = 20
	return []string{strings.Join(all[:min(len(all), most)], " ")}
}

// buttons gives what a message can be answered by, or nil.
func buttons(actions []notify.Action) *keyboard {
	var rows [][]button
	n := 0
	for _, a := range actions {
		b, ok := asButton(a)
		if !ok || n == maxButtons {
			continue
		}
		if n%perRow == 0 {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], b)
		n++
	}
	if n == 0 {
		return nil
	}
	return &keyboard{rows}
}

// asButton gives the button for an action: one that answers the bot where it has a
// value, else one that opens its page.
func asButton(a notify.Action) (button, bool) {
	b := button{Text: notify.CutRunes(strings.Join(strings.Fields(a.Label), " "), maxLabel)}
	switch {
	case b.Text == "":
		return button{}, false
	case a.Value != "" && len(a.Value) <= maxValue:
		b.Value = a.Value
	case hasPage(a) && isPublic(a.URL):
		b.URL = a.URL
	default:
		return button{}, false
	}
	return b, true
}

// addresses gives a line for each action with a page: for all, or only for those that
// can be no button.
func addresses(actions []notify.Action, others bool, render func(string) string) []string {
	var lines []string
	for _, a := range actions {
		if _, ok := asButton(a); (!ok || !others) && hasPage(a) {
			lines = append(lines, render(notify.PlainLinks([]notify.Action{a})))
		}
	}
	return lines
}

func hasPage(a notify.Action) bool {
	return len(notify.Linked([]notify.Action{a})) > 0 && len(a.URL) <= maxAddress
}

// isPublic reports whether Telegram takes an address for a button: its host has a dot
// in it or is a number. For any other, others report, it refuses the whole message.
func isPublic(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}
