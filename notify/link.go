package notify

import (
	"net/url"
	"strings"
)

// WebURL reads a web address, of http or https; nil: it is none.
func WebURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil
	}
	return u
}

// AddressSecrets lists the parts of an address that may be what lets people post to it,
// for a [Poster] that is to let none of them out.
func AddressSecrets(u *url.URL) []string {
	const short = 6 // shorter parts are words
	var all []string
	if password, ok := u.User.Password(); ok {
		all = append(all, password)
	}
	parts := append(strings.Split(u.Path, "/"), u.RawQuery, u.EscapedPath(), u.User.Username())
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	for _, part := range parts {
		if len(part) >= short {
			all = append(all, part)
		}
	}
	return all
}

// Linked gives the actions that have a web address, in their order. An address that
// could break out of a link is none.
func Linked(actions []Action) []Action {
	var all []Action
	for _, a := range actions {
		if WebURL(a.URL) == nil || strings.ContainsAny(a.URL, " <>()[]|\"'`\\") || a.Label == "" {
			continue
		}
		all = append(all, a)
	}
	return all
}

// Links puts the actions that have a web address into one line of Markdown, or
// nothing where none has.
func Links(actions []Action) string {
	var links []string
	for _, a := range Linked(actions) {
		label := Escape(oneLine(strings.NewReplacer("[", "", "]", "").Replace(a.Label), maxNameBytes))
		links = append(links, "["+label+"]("+a.URL+")")
	}
	return strings.Join(links, " · ")
}

// PlainLinks puts the actions that have a web address into lines of plain words, or
// nothing where none has.
func PlainLinks(actions []Action) string {
	var links []string
	for _, a := range Linked(actions) {
		links = append(links, oneLine(a.Label, maxNameBytes)+": "+a.URL)
	}
	return strings.Join(links, "\n")
}

// CutAbove cuts lines so that tail, such as links, still fits below them within
// maxBytes. A tail that would take more than half of the room is left out.
func CutAbove(lines, tail string, maxBytes int) string {
	if tail == "" || len(tail) > maxBytes/2 {
		return Cut(lines, maxBytes)
	}
	return Cut(lines, maxBytes-len(tail)-1) + "\n" + tail
}
