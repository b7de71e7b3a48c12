package notify

import (
	"net/url"
	"strings"
)

// Linked gives the actions that have a web address, in their order. An address that
// could break out of a link is none.
func Linked(actions []Action) []Action {
	var all []Action
	for _, a := range actions {
		u, err := url.Parse(a.URL)
		if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			continue
		}
		if strings.ContainsAny(a.URL, " <>()[]|\"'`\\") || a.Label == "" {
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
