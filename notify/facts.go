package notify

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"curfew/fleet"
)

// The lines of a message below its title.
const (
	lineOwner      fleet.Code = "notify.owner"
	lineState      fleet.Code = "notify.state"
	lineStateSince fleet.Code = "notify.state-since"
	lineSeen       fleet.Code = "notify.seen"

	lineSoFar         fleet.Code = "notify.cost.so-far"
	lineRate          fleet.Code = "notify.cost.rate"
	linePriceUnknown  fleet.Code = "notify.cost.unknown"
	lineConfigured    fleet.Code = "notify.cost.configured"
	lineStopped       fleet.Code = "notify.cost.stopped"
	lineStoppedFree   fleet.Code = "notify.cost.stopped-free"
	lineStoppedUnsure fleet.Code = "notify.cost.stopped-unsure"
	lineTotal         fleet.Code = "notify.cost.total"
	lineTotalUnknown  fleet.Code = "notify.cost.total-unknown"

	lineAfterFree       fleet.Code = "notify.after.free"
	lineAfterCosts      fleet.Code = "notify.after.costs"
	lineAfterUnsure     fleet.Code = "notify.after.costs-unsure"
	lineBilled          fleet.Code = "notify.after.billed"
	lineBilledUnsure    fleet.Code = "notify.after.unsure"
	lineDataPart        fleet.Code = "notify.after.data-part"
	lineDataNone        fleet.Code = "notify.after.data-none"
	lineDataUnsure      fleet.Code = "notify.after.data-unsure"
	lineCard            fleet.Code = "notify.after.card"
	lineRelease         fleet.Code = "notify.after.release"
	lineDelete          fleet.Code = "notify.after.delete"
	lineGoal            fleet.Code = "notify.after.goal"
	linePlatformStop    fleet.Code = "notify.platform.stops"
	linePlatformRelease fleet.Code = "notify.platform.releases"
	lineWould           fleet.Code = "notify.would"
	lineAgain           fleet.Code = "notify.again"

	lineNames           fleet.Code = "notify.names"
	lineNamesMore       fleet.Code = "notify.names-more"
	lineTogether        fleet.Code = "notify.together"
	lineTogetherCost    fleet.Code = "notify.together-cost"
	lineTogetherUnknown fleet.Code = "notify.together-unknown"

	lineByHand  fleet.Code = "notify.by-hand"
	lineHurried fleet.Code = "notify.hurried"
	linePolicy  fleet.Code = "notify.policy"
	lineMore    fleet.Code = "notify.more"
	lineHold    fleet.Code = "notify.hold"
	lineExplain fleet.Code = "notify.explain"
	lineTest    fleet.Code = "notify.test"
)

// The words for states, activities and actions.
const (
	stateUnknown   fleet.Code = "notify.state.unknown"
	stateCreating  fleet.Code = "notify.state.creating"
	stateStarting  fleet.Code = "notify.state.starting"
	stateRunning   fleet.Code = "notify.state.running"
	stateStopping  fleet.Code = "notify.state.stopping"
	stateStopped   fleet.Code = "notify.state.stopped"
	stateReleasing fleet.Code = "notify.state.releasing"
	stateReleased  fleet.Code = "notify.state.released"
	stateFailed    fleet.Code = "notify.state.failed"

	activityUnknown fleet.Code = "notify.activity.unknown"
	activityBusy    fleet.Code = "notify.activity.busy"
	activityIdle    fleet.Code = "notify.activity.idle"
)

// body adds the lines of the notice, the most needed first.
func (p *page) body() {
	if p.n.Event == EventTest {
		p.tell(lineTest, nil)
		return
	}
	if p.n.Event == EventDigest {
		p.digest()
		return
	}
	p.which()
	p.together()
	switch {
	case p.subject.Ref.Kind != fleet.KindInstance:
	case p.intent.Outcome == fleet.OutcomeVanished:
		p.total()
	default:
		p.doing()
		p.cost()
	}
	p.handed()
	why := len(p.lines)
	if p.subject.Ref.Kind == fleet.KindInstance || p.acts() {
		p.after()
	}
	p.next()
	p.reference()
	p.reasons(why)
}

// name is what people call the subject; empty where there is none.
func (p *page) name() string {
	s := p.subject
	return oneLine(cmp.Or(s.Name, s.Ref.ID, s.AccountName, s.Ref.Account), maxNameBytes)
}

// names is the subject's name, and how many others there are.
func (p *page) names() string {
	if len(p.n.With) == 0 {
		return p.name()
	}
	return p.say(lineNames, fleet.Values{"name": fleet.Text(p.name()), "more": fleet.Number(float64(len(p.n.With)))})
}

// namesAtMost is how many of the things that are acted on together are named.
const namesAtMost = 20

// together names what else is acted on, and says what all of it costs a day.
func (p *page) together() {
	if len(p.n.With) == 0 {
		return
	}
	sums := map[string]int64{}
	unknown := 0
	add := func(price fleet.Price) {
		if day, ok := (fleet.Price{PerHour: price.PerHour, Source: price.Source}).For(24 * time.Hour); ok {
			sums[day.Currency] += day.Micros
		} else {
			unknown++
		}
	}
	add(p.subject.Price)
	var names []string
	for n, o := range p.n.With {
		add(o.Price)
		if n < namesAtMost {
			names = append(names, oneLine(o.Name, maxNameBytes))
		}
	}
	if more := len(p.n.With) - namesAtMost; more > 0 {
		names = append(names, p.say(lineNamesMore, fleet.Values{"more": fleet.Number(float64(more))}))
	}
	p.tell(lineTogether, fleet.Values{"names": fleet.Text(strings.Join(names, ", "))})
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		if sums[currency] > 0 {
			p.tell(lineTogetherCost, fleet.Values{"day": fleet.Amount(fleet.Money{Micros: sums[currency], Currency: currency})})
		}
	}
	if unknown > 0 {
		p.tell(lineTogetherUnknown, fleet.Values{"count": fleet.Number(float64(unknown))})
	}
}

// which adds the line that says which thing this is and where.
func (p *page) which() {
	s := p.subject
	if s.Ref.IsZero() {
		return
	}
	var parts []string
	part := func(words string) {
		if words != "" {
			parts = append(parts, words)
		}
	}
	id := oneLine(s.Ref.ID, maxNameBytes)
	switch name := p.name(); {
	case name == id || id == "":
		part(name)
	default:
		part(name + " (" + id + ")")
	}
	if s.Ref.Kind != fleet.KindInstance && s.Ref.Kind != fleet.KindAccount {
		part(p.r.Reason(s.Ref.Kind.Reason(), p.now))
	}
	if s.GPU.Count > 0 || s.GPU.Model != "" {
		part(strings.TrimSpace(oneLine(s.GPU.Model, maxNameBytes) + " ×" + strconv.Itoa(max(s.GPU.Count, 1))))
	}
	account := s.AccountName
	if account == "" && s.Ref.Kind != fleet.KindAccount { // an owner and a budget have none
		account = s.Ref.Account
	}
	if account = oneLine(account, maxNameBytes); account != p.name() {
		part(account)
	}
	part(oneLine(s.Region, maxNameBytes))
	if s.Owner != "" {
		part(p.say(lineOwner, fleet.Values{"owner": fleet.Text(oneLine(s.Owner, maxNameBytes))}))
	}
	p.add(strings.Join(parts, " · "))
}

// doing adds what the instance is doing since when, and what was last seen.
func (p *page) doing() {
	var since time.Time
	switch p.subject.State {
	case fleet.StateRunning:
		since = p.subject.StartedAt
	case fleet.StateStopped:
		since = p.subject.StoppedAt
	}
	state := fleet.Nested(fleet.Because(stateCode(p.subject.State), nil))
	parts := []string{p.say(lineState, fleet.Values{"state": state})}
	if !since.IsZero() {
		parts[0] = p.say(lineStateSince, fleet.Values{
			"state": state, "since": p.moment(since), "for": fleet.Span(p.now.Sub(since)),
		})
	}
	told := map[string]bool{}
	for _, v := range p.intent.Verdicts {
		if p.n.Event == EventDone || p.n.Event == EventAbandoned {
			break // what was seen before no longer matters
		}
		for _, e := range v.Evidence {
			if told[e.Source] || len(told) == 4 || e.SeenAt.IsZero() {
				continue
			}
			told[e.Source] = true
			parts = append(parts, p.say(lineSeen, fleet.Values{
				"source":   fleet.Text(oneLine(e.Source, maxNameBytes)),
				"activity": fleet.Nested(fleet.Because(activityCode(e.Activity), nil)),
				"at":       p.moment(e.SeenAt),
			}))
		}
	}
	p.add(strings.Join(parts, " · "))
}

// cost adds what it costs now and has cost.
func (p *page) cost() {
	s := p.subject
	if p.n.Event == EventDone && (p.intent.Action == fleet.Stop || p.intent.Action.Destroys()) {
		p.total()
	}
	price := s.CostNow()
	if s.State == fleet.StateStopped || s.State == fleet.StateStopping {
		switch {
		case !price.Known():
			p.tell(lineStoppedUnsure, nil)
		case price.PerHour.IsZero():
			p.tell(lineStoppedFree, nil)
		default:
			p.tell(lineStopped, rate(price))
		}
		return
	}
	if s.State == fleet.StateReleased {
		return
	}
	if !price.Known() {
		p.tell(linePriceUnknown, nil)
		return
	}
	code, v := lineRate, rate(price)
	if spent, ok := price.For(p.now.Sub(s.StartedAt)); ok && !s.StartedAt.IsZero() && s.State == fleet.StateRunning {
		code = lineSoFar
		v["sum"], v["since"] = fleet.Amount(spent), p.moment(s.StartedAt)
	}
	words := p.say(code, v)
	if price.Source == fleet.PriceConfig {
		words += " · " + p.say(lineConfigured, nil)
	}
	p.add(words)
}

func (p *page) total() {
	if p.intent.Cost.Currency == "" {
		p.tell(lineTotalUnknown, nil)
		return
	}
	p.tell(lineTotal, fleet.Values{"sum": fleet.Amount(p.intent.Cost)})
}

func rate(price fleet.Price) fleet.Values {
	day, _ := fleet.Price{PerHour: price.PerHour, Source: price.Source}.For(24 * time.Hour)
	return fleet.Values{"price": fleet.Text(price.PerHour.String()), "day": fleet.Amount(day)}
}

func (p *page) handed() {
	who, ok := strings.CutPrefix(p.intent.By, "hand:")
	switch {
	case ok:
		p.tell(lineByHand, fleet.Values{"who": fleet.Text(oneLine(who, maxNameBytes))})
	case p.intent.Hurried != "":
		p.tell(lineHurried, fleet.Values{"who": fleet.Text(oneLine(p.intent.Hurried, maxNameBytes))})
	}
}

// after adds what an act leaves behind: money, data and the card. It is said
// before the act and, as far as it still matters, after it.
func (p *page) after() {
	before := p.n.Event == EventPending || p.n.Event == EventWould || p.n.Event == EventAsked
	switch p.intent.Action {
	case fleet.Stop:
		if before {
			p.afterStopCosts()
			p.afterStopData()
		}
		if before || p.n.Event == EventDone {
			p.afterStopCard()
		}
	case fleet.Release:
		if before && p.subject.OnRelease.KeepsData != fleet.KeepsAll {
			p.tell(lineRelease, nil)
		}
	case fleet.Delete:
		if before {
			p.tell(lineDelete, nil)
		}
	}
	if before && p.intent.Goal > p.intent.Action {
		p.tell(lineGoal, fleet.Values{"goal": p.action(p.intent.Goal)})
	}
	if at := p.subject.StopsAt; at.After(p.now) && p.subject.State.Up() {
		p.tell(linePlatformStop, fleet.Values{"at": p.moment(at)})
	}
	if at := p.subject.ReleasesAt; at.After(p.now) && !p.subject.State.Gone() {
		p.tell(linePlatformRelease, fleet.Values{"at": p.moment(at)})
	}
}

func (p *page) afterStopCosts() {
	stop := p.subject.OnStop
	switch {
	case stop.EndsBilling == fleet.No:
		p.tell(lineBilled, nil)
	case stop.EndsBilling == fleet.Unsure:
		p.tell(lineBilledUnsure, nil)
	case !stop.StillCosts.Known():
		p.tell(lineAfterUnsure, nil)
	case stop.StillCosts.PerHour.IsZero():
		p.tell(lineAfterFree, nil)
	default:
		p.tell(lineAfterCosts, rate(stop.StillCosts))
	}
}

func (p *page) afterStopData() {
	switch p.subject.OnStop.KeepsData {
	case fleet.KeepsAll:
	case fleet.KeepsPart:
		p.tell(lineDataPart, nil)
	case fleet.KeepsNone:
		p.tell(lineDataNone, nil)
	default:
		p.tell(lineDataUnsure, nil)
	}
}

// afterStopCard says that a stop gives the card away: where it ends billing by
// the hour, the platform rents the card to the next.
func (p *page) afterStopCard() {
	s := p.subject
	if s.GPU.Count > 0 && (p.n.Event != EventDone || s.State == fleet.StateStopped) && s.Charge.Type != fleet.ChargePeriod && s.OnStop.EndsBilling != fleet.No {
		p.tell(lineCard, nil)
	}
}

// next adds what comes next and how to say wait.
func (p *page) next() {
	switch p.n.Event {
	case EventWould:
		if p.acts() {
			p.tell(lineWould, fleet.Values{"action": p.action(p.intent.Action), "warn": fleet.Span(p.intent.Warn)})
		}
	case EventPutOff, EventAlarm:
		if p.intent.Open() && p.intent.NextAt.After(p.now) {
			p.tell(lineAgain, fleet.Values{"at": p.moment(p.intent.NextAt)})
		}
	}
	if p.n.Event == EventPending || p.n.Event == EventPutOff {
		p.lines = append(p.lines, line{words: p.say(lineHold, nil), code: "curfew hold " + p.argument() + " 2h"})
	}
}

// reference adds the intent's number and where more is told.
func (p *page) reference() {
	if p.subject.Ref.IsZero() || p.n.Event == EventTest {
		return
	}
	words := p.say(lineExplain, nil)
	if p.intent.ID != 0 {
		words = "#" + strconv.FormatInt(p.intent.ID, 10) + " · " + words
	}
	code := "curfew explain " + p.argument()
	switch p.subject.Ref.Kind {
	case fleet.KindAccount:
		code = "curfew ls" // which says how each account is; explain is about one instance
	case fleet.KindOwner, fleet.KindBudget:
		code = "curfew cost"
	}
	p.lines = append(p.lines, line{words: words, code: code})
}

// bareWord reports whether a shell takes the word as it is.
func bareWord(s string) bool {
	plain := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	for i, c := range s {
		if !plain(c) && (i == 0 || !strings.ContainsRune("._-", c)) {
			return false
		}
	}
	return s != "" && len(s) <= maxNameBytes
}

// argument is the subject as a person can paste it into a shell: its name where
// that is one plain word, else its id, else its id in quotes.
func (p *page) argument() string {
	id := cmp.Or(p.subject.Ref.ID, p.subject.AccountName, p.subject.Ref.Account)
	for _, word := range []string{p.subject.Name, id} {
		if bareWord(word) {
			return word
		}
	}
	return "'" + strings.ReplaceAll(oneLine(id, maxNameBytes), "'", `'\''`) + "'"
}

func (p *page) action(a fleet.Action) fleet.Value {
	return fleet.Nested(fleet.Because(fleet.Code("action."+a.String()), nil))
}

func stateCode(s fleet.State) fleet.Code {
	switch s {
	case fleet.StateCreating:
		return stateCreating
	case fleet.StateStarting:
		return stateStarting
	case fleet.StateRunning:
		return stateRunning
	case fleet.StateStopping:
		return stateStopping
	case fleet.StateStopped:
		return stateStopped
	case fleet.StateReleasing:
		return stateReleasing
	case fleet.StateReleased:
		return stateReleased
	case fleet.StateFailed:
		return stateFailed
	}
	return stateUnknown
}

func activityCode(a fleet.Activity) fleet.Code {
	switch a {
	case fleet.Busy:
		return activityBusy
	case fleet.Idle:
		return activityIdle
	}
	return activityUnknown
}
