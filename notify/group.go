package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
)

// The lines of a message that tells several notices at once.
const (
	titleGroup        fleet.Code = "notify.title.group"
	titleGroupPending fleet.Code = "notify.title.group-pending"
	lineGroupCost     fleet.Code = "notify.group.cost"
	lineGroupItem     fleet.Code = "notify.group.item"
	lineGroupOver     fleet.Code = "notify.group.over"
	lineGroupHold     fleet.Code = "notify.group.hold"
)

// maxGroupItems is how many notices of a group are put into words: more than the
// smallest channel has room for.
const maxGroupItems = 100

// RenderGroup puts several notices into one message: a line for each, the most needed
// first, as many as the smallest channel has room for, and what the others cost. What
// opened and is over already is one line.
func RenderGroup(ns []Notice, r *text.Renderer, now time.Time) Message {
	p, most := pageOf(ns, r, now)
	return p.message(most)
}

// pageOf is the page of one notice or several, and the most needed of them.
func pageOf(ns []Notice, r *text.Renderer, now time.Time) (*page, Notice) {
	if len(ns) == 1 {
		p := written(ns[0], r, now)
		p.heading = p.title()
		return p, ns[0]
	}
	ns = slices.Clone(ns)
	slices.SortStableFunc(ns, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), byRate(a, b))
	})
	over := finished(ns)
	if p, ok := whole(ns, over, r, now); ok {
		return p, ns[0]
	}
	p := &page{r: r, now: now, n: Notice{Event: EventDigest, Severity: ns[0].Severity}}
	part := Section{Head: fleet.Because(lineGroupCost, nil)}
	var sum Tally
	first, pending := "", 0
	var soonest time.Time
	for _, n := range ns {
		if n.Event == EventResolved && over[n.Thread] {
			continue // it is told with its opening
		}
		var item Item
		if n.about().Ref.Kind == fleet.KindInstance {
			price := n.about().CostNow()
			item.Cost = &price
		}
		sum.Add(item.Cost)
		if len(part.Items) < maxGroupItems {
			title := Render(n, r, now).Title
			first = cmp.Or(first, title)
			code := lineGroupItem
			if over[n.Thread] {
				code = lineGroupOver
			}
			item.Text = fleet.Because(code, fleet.Values{"line": fleet.Text(title)})
			part.Items = append(part.Items, item)
		} else {
			part.Rest.Add(item.Cost)
		}
		if n.Event == EventPending && n.Intent != nil {
			pending++
			soonest = sooner(soonest, n.Intent.Deadline)
		}
	}
	part.Head = fleet.Because(lineGroupCost, sum.Values())
	if pending > 0 {
		part.Foot = fleet.Because(lineGroupHold, nil)
	}
	p.n.Sections = []Section{part}
	p.heading = p.groupTitle(sum.Count, pending, first, soonest)
	p.digest()
	return p, ns[0]
}

// finished gives the threads that opened and are over within the same message, with
// all that their openings told of.
func finished(ns []Notice) map[string]bool {
	left := map[string]int{}
	for _, n := range ns {
		if n.Event == EventFinding && n.Thread != "" {
			left[n.Thread] += 1 + len(n.With)
		}
	}
	over := map[string]bool{}
	for _, n := range ns {
		if opened, ok := left[n.Thread]; ok && n.Event == EventResolved {
			left[n.Thread] = opened - 1
			over[n.Thread] = opened <= 1
		}
	}
	return over
}

// groupTitle says how many notices there are, and what the first is.
func (p *page) groupTitle(count, pending int, first string, soonest time.Time) string {
	title := fleet.Values{"count": fleet.Number(float64(count)), "first": fleet.Text(first)}
	code := titleGroup
	if pending == count {
		if code = titleGroupPending; soonest.After(p.now) {
			title["at"] = p.moment(soonest)
		}
	}
	return oneLine(p.say(code, title), maxTitleBytes)
}

// message is the page as it is sent; most is the most needed of what it tells.
func (p *page) message(most Notice) Message {
	return Message{
		Title: p.heading, Markdown: p.markdown(), Plain: p.plain(),
		Severity: most.Severity, Event: most.Event, At: p.r.In(p.now),
	}
}

// whole tells a few notices one after the other with all that each says; false where
// the smallest channel has no room for that.
func whole(ns []Notice, over map[string]bool, r *text.Renderer, now time.Time) (*page, bool) {
	p := &page{r: r, now: now, n: Notice{Event: EventDigest}}
	count, pending, size, first := 0, 0, 0, ""
	var soonest time.Time
	for _, n := range ns {
		if n.Event == EventResolved && over[n.Thread] {
			continue
		}
		one := written(n, r, now)
		title := one.title()
		if n.Event == EventFinding && over[n.Thread] {
			title = one.say(lineGroupOver, fleet.Values{"line": fleet.Text(title)})
		}
		if count++; count == 1 {
			first = title
		}
		if n.Event == EventPending && n.Intent != nil {
			pending++
			soonest = sooner(soonest, n.Intent.Deadline)
		}
		p.lines = append(p.lines, line{words: title, head: true})
		p.lines = append(p.lines, one.lines...)
		if size += len(title); size > maxPlainBytes {
			return nil, false
		}
	}
	if count == 1 {
		p.heading, p.lines = first, p.lines[1:]
	} else {
		p.heading = p.groupTitle(count, pending, first, soonest)
	}
	return p, p.fits()
}

// about is what the notice is about.
func (n Notice) about() fleet.Instance {
	if n.Subject.Ref.IsZero() && n.Intent != nil {
		return n.Intent.Subject
	}
	return n.Subject
}

// byRate orders notices by what their subjects cost, the dearest first; two
// currencies do not compare.
func byRate(a, b Notice) int {
	return cmp.Compare(b.about().CostNow().PerHour.Micros, a.about().CostNow().PerHour.Micros)
}

// letter is what is sent in one message: one delivery, or several of one group that
// are due together.
type letter []Delivery

// letters joins the deliveries that are due into messages, in the order of the first
// of each: those of one group, apart from what was refused with markup and from what
// may have been sent together before.
func letters(due []Delivery) []letter {
	type envelope struct {
		group, letter string
		plain         bool
	}
	var out []letter
	at := map[envelope]int{}
	for _, d := range due {
		e := envelope{group: d.Notice.Group, letter: d.Letter, plain: d.Plain}
		n, ok := at[e]
		switch {
		case d.Notice.Group == "" || d.Alone:
			out = append(out, letter{d})
		case ok:
			out[n] = append(out[n], d)
		default:
			at[e] = len(out)
			out = append(out, letter{d})
		}
	}
	return out
}

// id is the same for every attempt to send the same deliveries, and another as soon
// as one more is among them.
func (l letter) id() string {
	if l[0].Letter != "" {
		return l[0].Letter
	}
	if len(l) == 1 {
		return strconv.FormatInt(l[0].ID, 10)
	}
	var ids []string
	for _, d := range l {
		ids = append(ids, strconv.FormatInt(d.ID, 10))
	}
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(strings.Join(ids, ",")))
	return hex.EncodeToString(sum[:8])
}

// sealed gives the numbers of the deliveries of a letter that others might join
// before its next attempt, and that is not noted yet.
func (l letter) sealed() []int64 {
	if l[0].Notice.Group == "" || l[0].Letter != "" {
		return nil
	}
	var ids []int64
	for _, d := range l {
		ids = append(ids, d.ID)
	}
	return ids
}

// thread gives what all of it belongs to, and the message that it answers: none where
// it tells of several things that were not told together before.
func (l letter) thread() (thread, replyTo string) {
	thread, replyTo = l[0].Notice.Thread, l[0].ReplyTo
	for _, d := range l[1:] {
		if d.Notice.Thread != thread {
			thread = ""
		}
		if d.ReplyTo != replyTo {
			replyTo = ""
		}
	}
	return thread, replyTo
}

// urgent reports whether any of it is.
func (l letter) urgent() bool {
	return slices.ContainsFunc(l, func(d Delivery) bool { return d.Notice.Urgent() })
}
