package notify

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
)

// How much of a message may be spent on words that come from outside. The
// reasons get what the other lines leave of the smallest channel (2048 bytes
// plain, 4096 with markup), so that what a person needs to decide is never what
// is cut off.
const (
	maxNameBytes     = 48
	maxTitleBytes    = 200
	maxReasons       = 4
	maxReasonBytes   = 280
	leastReasonBytes = 40
	maxPlainBytes    = 2000
	maxMarkdownBytes = 4000
)

// The titles.
const (
	titlePending      fleet.Code = "notify.title.pending"
	titleNow          fleet.Code = "notify.title.now"
	titleAsked        fleet.Code = "notify.title.asked"
	titlePutOff       fleet.Code = "notify.title.put-off"
	titleAbandoned    fleet.Code = "notify.title.abandoned"
	titleDone         fleet.Code = "notify.title.done"
	titleFailed       fleet.Code = "notify.title.failed"
	titleUnverified   fleet.Code = "notify.title.unverified"
	titleStillBilling fleet.Code = "notify.title.still-billing"
	titleVanished     fleet.Code = "notify.title.vanished"
	titleAlarm        fleet.Code = "notify.title.alarm"
	titleWould        fleet.Code = "notify.title.would"
	titleResolved     fleet.Code = "notify.title.resolved"
	titleReload       fleet.Code = "notify.title.reload"
	titleDigest       fleet.Code = "notify.title.digest"
	titleTest         fleet.Code = "notify.title.test"
	titleInfo         fleet.Code = "notify.title.info"
	titleWarning      fleet.Code = "notify.title.warning"
	titleCritical     fleet.Code = "notify.title.critical"
)

// Render puts a notice into words for one channel: which thing, what it is
// doing and costs, why, what comes next and when, and how to say wait. now is
// the moment of sending: a deadline that waits for this very acceptance is
// counted from it.
func Render(n Notice, r *text.Renderer, now time.Time) Message {
	p := written(n, r, now)
	p.heading = p.title()
	return p.message(n)
}

// written is the page of one notice.
func written(n Notice, r *text.Renderer, now time.Time) *page {
	p := &page{n: n, r: r, now: now, subject: n.Subject}
	if n.Intent != nil {
		p.intent = *n.Intent
		if p.subject.Ref.IsZero() {
			p.subject = n.Intent.Subject
		}
		if p.subject.Ref.IsZero() {
			p.subject.Ref = n.Intent.Ref
		}
	}
	if n.Event == EventDone {
		p.subject = afterwards(p.subject, p.intent)
	}
	p.body()
	return p
}

// afterwards is the subject as a verified act left it, where the notice still
// holds what was seen before. Another Boot means that it was started again: then
// what was seen is what there is.
func afterwards(s fleet.Instance, i fleet.Intent) fleet.Instance {
	switch {
	case i.Action.Destroys():
		s.State = fleet.StateReleased
	case i.Action == fleet.Stop && s.Boot == i.Boot && s.State != fleet.StateStopped && !s.State.Gone():
		s.State, s.StoppedAt = fleet.StateStopped, i.ClosedAt
	}
	return s
}

// page is a message in the making.
type page struct {
	n       Notice
	r       *text.Renderer
	now     time.Time
	subject fleet.Instance
	intent  fleet.Intent // zero where the notice is about none
	lines   []line
	heading string // the title, where it does not follow from the notice
}

// line is one line of a message. Words of a quote may hold several.
type line struct {
	words string
	code  string // a command right after the words
	quote bool
	head  bool // of the lines that follow
	item  bool // one of several under a head
}

func (p *page) say(code fleet.Code, v fleet.Values) string {
	return p.r.Reason(fleet.Because(code, v), p.now)
}

func (p *page) add(words string) {
	if words != "" {
		p.lines = append(p.lines, line{words: words})
	}
}

func (p *page) tell(code fleet.Code, v fleet.Values) { p.add(p.say(code, v)) }

// acts reports whether the notice is about an intent, whose action can then be
// named.
func (p *page) acts() bool { return p.intent.Action != fleet.Keep }

func (p *page) title() string {
	if p.heading != "" {
		return p.heading
	}
	code := titleInfo
	switch {
	case p.n.Event == EventTest:
		code = titleTest
	case p.n.Event == EventDigest:
		code = titleDigest
	case p.n.Event == EventReload:
		code = titleReload
	case p.n.Event == EventResolved:
		code = titleResolved
	case p.acts() && p.actTitle() != "":
		code = p.actTitle()
	case p.n.Severity == fleet.Critical:
		code = titleCritical
	case p.n.Severity == fleet.Warning:
		code = titleWarning
	}
	deadline := p.deadline()
	t := p.say(code, fleet.Values{
		"action": p.action(p.intent.Action),
		"name":   fleet.Text(p.names()),
		"at":     p.moment(deadline),
		"in":     fleet.Span(deadline.Sub(p.now)),
		"what":   fleet.Text(p.headline()),
	})
	if t == "" {
		t = string(p.n.Event)
	}
	return oneLine(t, maxTitleBytes)
}

func (p *page) actTitle() fleet.Code {
	switch p.n.Event {
	case EventPending:
		if p.intent.Hurried != "" {
			return titleNow
		}
		return titlePending
	case EventAsked:
		return titleAsked
	case EventPutOff:
		return titlePutOff
	case EventAbandoned:
		return titleAbandoned
	case EventDone:
		return titleDone
	case EventWould:
		return titleWould
	case EventAlarm:
		return p.alarmTitle()
	}
	return ""
}

func (p *page) alarmTitle() fleet.Code {
	switch p.intent.Outcome {
	case fleet.OutcomeFailedWrite:
		return titleFailed
	case fleet.OutcomeUnverified:
		return titleUnverified
	case fleet.OutcomeDoneStillBilling:
		return titleStillBilling
	case fleet.OutcomeVanished:
		return titleVanished
	case fleet.OutcomeNone:
		if p.intent.State == fleet.IntentWritten {
			return titleUnverified
		}
	}
	return titleAlarm
}

// headline is the news in the title of a notice that announces no act: what it
// is about, and the first line of the reason.
func (p *page) headline() string {
	first, _, _ := strings.Cut(clean(p.r.Reason(p.n.Reason, p.now)), "\n")
	name := p.name()
	switch {
	case first == "":
		return name
	case name == "" || strings.Contains(first, name):
		return first
	}
	return name + " · " + first
}

// deadline is when the act may be done: for a warning that nobody has accepted
// yet, what this acceptance would make it. It is never earlier than the
// journal's.
func (p *page) deadline() time.Time {
	least := p.now
	if p.intent.AcceptedAt.IsZero() {
		least = p.now.Add(p.intent.Warn)
	}
	if p.intent.Deadline.After(least) {
		return p.intent.Deadline
	}
	return least
}

// moment is a time in whole minutes, rounded to the earlier one, unless it is
// near.
func (p *page) moment(t time.Time) fleet.Value {
	if d := t.Sub(p.now); d >= 2*time.Minute || d <= -2*time.Minute {
		t = t.Truncate(time.Minute)
	}
	return fleet.Moment(t.Truncate(time.Second))
}

func (p *page) markdown() string {
	var b strings.Builder
	for i, l := range p.lines {
		if i > 0 {
			b.WriteByte('\n')
			if l.head || !l.quote && p.lines[i-1].quote {
				b.WriteByte('\n') // ends the quote
			}
		}
		words := Escape(l.words)
		switch {
		case l.head:
			words = "**" + words + "**"
		case l.quote:
			words = "> " + strings.ReplaceAll(words, "\n", "\n> ")
		}
		b.WriteString(words)
		if l.code != "" {
			b.WriteString("`" + strings.ReplaceAll(l.code, "`", "'") + "`")
		}
	}
	return b.String()
}

func (p *page) plain() string {
	var b strings.Builder
	for i, l := range p.lines {
		if i > 0 {
			b.WriteByte('\n')
			if l.head {
				b.WriteByte('\n')
			}
		}
		if l.item {
			b.WriteString("· ")
		}
		b.WriteString(strings.ReplaceAll(l.words, "\n", "\n  "))
		if l.code != "" {
			b.WriteString(l.code)
		}
	}
	return b.String()
}

// reasons puts why in at the given line: what each policy said, the news where
// the title does not give it whole, and what else was known; each once, as far
// as there is room.
func (p *page) reasons(at int) {
	var quotes []line
	var seen []string
	title := p.title()
	plain := maxPlainBytes - len(title) - len(p.plain())
	markup := maxMarkdownBytes - len(Escape(title)) - len(p.markdown())
	left := 0
	add := func(policy string, why fleet.Reason) {
		words := strings.TrimSpace(clean(p.r.Reason(why, p.now)))
		if words == "" || slices.Contains(seen, words) || strings.Contains(title, words) {
			return
		}
		seen = append(seen, words)
		words = Cut(words, max(leastReasonBytes, min(maxReasonBytes, plain/2, markup/4)))
		if policy != "" {
			words = p.say(linePolicy, fleet.Values{"policy": fleet.Text(oneLine(policy, maxNameBytes)), "why": fleet.Text(words)})
		}
		breaks := 1 + strings.Count(words, "\n")
		costPlain, costMarkup := len(words)+3*breaks, len(Escape(words))+3*breaks
		if len(quotes) == maxReasons || costPlain > plain || costMarkup > markup {
			left++
			return
		}
		plain, markup = plain-costPlain, markup-costMarkup
		quotes = append(quotes, line{words: words, quote: true})
	}
	news := p.n.Reason
	if news.IsZero() && p.n.Event == EventPutOff {
		news = p.intent.HeldBack
	}
	if news.IsZero() && !p.intent.Open() {
		news = p.intent.Why
	}
	// An announcement's news is what the policies said; elsewhere the news is
	// what became of it, and what was said before comes last.
	announces := p.n.Event == EventPending || p.n.Event == EventWould
	if !announces {
		add("", news)
	}
	for _, v := range p.intent.Verdicts {
		if v.Goal != fleet.Keep {
			add(v.Policy, v.Reason)
		}
	}
	add("", news)
	for _, b := range p.n.Because {
		add("", b)
	}
	if left > 0 {
		quotes = append(quotes, line{words: p.say(lineMore, fleet.Values{"n": fleet.Text(strconv.Itoa(left))}), quote: true})
	}
	p.lines = slices.Insert(p.lines, at, quotes...)
}
