package notify

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"curfew/fleet"
)

// TemplateData is a notice as a template sees it. Fields are only ever added. Words are
// in the channel's language and empty where there is nothing to say; in a body they are
// escaped for Markdown already, in a title they are plain. Each is one line, except
// Body.
type TemplateData struct {
	Event    string    // as the template is called: pending, done, finding, group …
	Severity string    // info, warning or critical
	Category string    // money, act, health, stock or digest
	Channel  string    // the channel's type, such as wecom
	Language string    // en or zh
	Now      time.Time // of sending, on the clock of timezone

	Title   string   // the built-in title
	Body    string   // the built-in text below it, in Markdown
	Lines   []string // of Body, without the reasons
	Reasons []string // why, the most needed first

	Subject TemplateSubject // what it is about
	Others  []string        // names of what else is acted on
	Intent  int64           // the act's number; 0: it is about none
	Action  string          // the act, in words
	// Deadline is when an announced act may be done, and In how long that is from now.
	Deadline, In string

	// Hold and Explain are commands for a shell, in backticks already: to make it wait,
	// and to read more.
	Hold, Explain string
	// Actions are what a reader can say by a link. Channels show them below the message
	// by themselves.
	Actions []TemplateAction
	// Notices are what a group tells, each as it would be alone.
	Notices []TemplateData
}

// TemplateSubject is the instance, account, owner or budget that a notice is about.
type TemplateSubject struct {
	Name, ID, Account, Provider, Region, Owner string
	State                                      string // in words
	GPU                                        string // the model
	GPUs                                       int    // how many cards
	Labels                                     map[string]string
	// PerHour and PerDay are what it costs now, Spent what it cost since it was started,
	// and Total what the boot cost that an act ended.
	PerHour, PerDay, Spent, Total string
}

// TemplateAction is one thing that a reader can say.
type TemplateAction struct {
	Label, URL string
	Risky      bool // it hastens or allows an act
}

// script is how values are written: as they are, or so that they are safe in Markdown.
type script struct {
	words, code func(string) string
	body        func(*page) string
}

func inPlain() script {
	same := func(s string) string { return s }
	return script{words: same, code: same, body: (*page).plain}
}

func inMarkup() script {
	return script{words: apart, body: (*page).markdown, code: func(s string) string {
		return "`" + strings.ReplaceAll(s, "`", "'") + "`"
	}}
}

// apart escapes words so that they are safe whatever stands beside them: a template may
// put two values side by side.
func apart(s string) string {
	const gap, first, last = "\u200b", "(*_~>#", "]*_~<"
	if s == "" {
		return ""
	}
	s = Escape(s)
	if c, _ := utf8.DecodeRuneInString(s); strings.ContainsRune(first, c) {
		s = gap + s
	}
	if c, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune(last, c) {
		s += gap
	}
	return s
}

// word writes words from anywhere on one line.
func (s script) word(words string) string { return s.words(oneLine(words, maxTemplateGives)) }

// data gives what a template sees of a page, on which most is the most needed.
func (s script) data(p *page, most Notice, actions []Action) TemplateData {
	d := TemplateData{
		Event: string(most.Event), Severity: string(most.Severity), Category: string(most.Category),
		Language: string(p.r.Language()), Now: p.r.In(p.now),
		Title: s.word(p.title()), Body: s.body(p), Subject: s.subject(p), Intent: p.intent.ID,
	}
	for _, l := range p.lines {
		words := s.word(l.words)
		switch {
		case l.quote && !l.item:
			d.Reasons = append(d.Reasons, words)
			continue
		case strings.HasPrefix(l.code, "curfew hold "):
			d.Hold = s.code(l.code)
		case l.code != "" && !l.item:
			d.Explain = s.code(l.code)
		}
		if l.code != "" {
			words += " " + s.code(l.code)
		}
		d.Lines = append(d.Lines, words)
	}
	for _, o := range most.With {
		d.Others = append(d.Others, s.word(o.Name))
	}
	if p.acts() {
		d.Action = s.word(p.say(fleet.Code("action."+p.intent.Action.String()), nil))
	}
	if most.Event == EventPending && most.Intent != nil {
		deadline := p.deadline()
		if at, ok := p.moment(deadline).Any().(time.Time); ok {
			d.Deadline = s.word(p.r.Moment(at, p.now))
		}
		d.In = s.word(p.r.Span(deadline.Sub(p.now)))
	}
	for _, a := range Linked(actions) {
		d.Actions = append(d.Actions, TemplateAction{Label: s.word(strings.NewReplacer("[", "", "]", "").Replace(a.Label)), URL: a.URL, Risky: a.Risky})
	}
	return d
}

func (s script) subject(p *page) TemplateSubject {
	i := p.subject
	if i.Ref.IsZero() {
		return TemplateSubject{}
	}
	out := TemplateSubject{
		Name: s.word(p.name()), ID: s.word(i.Ref.ID), Account: s.word(i.AccountName), Provider: s.word(i.Provider), Region: s.word(i.Region),
		Owner: s.word(i.Owner), GPU: s.word(i.GPU.Model), GPUs: i.GPU.Count, Labels: map[string]string{},
	}
	for key, value := range i.Labels {
		out.Labels[key] = s.word(value)
	}
	if p.intent.Cost.Currency != "" {
		out.Total = s.word(p.intent.Cost.Round().String())
	}
	if i.Ref.Kind != fleet.KindInstance {
		return out
	}
	out.State = s.word(p.r.Reason(fleet.Because(stateCode(i.State), nil), p.now))
	if price := i.CostNow(); price.Known() {
		day, _ := fleet.Price{PerHour: price.PerHour, Source: price.Source}.For(24 * time.Hour)
		out.PerHour, out.PerDay = s.word(price.PerHour.String()), s.word(day.Round().String())
		if spent, ok := price.For(p.now.Sub(i.StartedAt)); ok && !i.StartedAt.IsZero() && i.State == fleet.StateRunning {
			out.Spent = s.word(spent.Round().String())
		}
	}
	return out
}

// unmark gives Markdown of the common subset as plain words.
func unmark(markdown string) string {
	link := regexp.MustCompile(`\[([^\[\]]*)\]\(([^()\s]*)\)`)
	var lines []string
	for line := range strings.SplitSeq(markdown, "\n") {
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "), "`")
		if n := len(parts); n%2 == 0 { // the last one opens nothing
			parts = append(parts[:n-2], parts[n-2]+"`"+parts[n-1])
		}
		for n := range parts {
			if n%2 == 0 {
				parts[n] = strings.ReplaceAll(link.ReplaceAllString(parts[n], "$1: $2"), "**", "")
			}
		}
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(strings.Join(parts, ""), "\u200b", ""), " "))
	}
	lines = slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" })
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
