package main

import (
	"cmp"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/policies"
)

// The heads of columns and of parts of an answer.
const (
	columnName      fleet.Code = "cli.column.name"
	columnAccount   fleet.Code = "cli.column.account"
	columnProvider  fleet.Code = "cli.column.provider"
	columnRegion    fleet.Code = "cli.column.region"
	columnMode      fleet.Code = "cli.column.mode"
	columnInstances fleet.Code = "cli.column.instances"
	columnState     fleet.Code = "cli.column.state"
	columnActivity  fleet.Code = "cli.column.activity"
	columnGPU       fleet.Code = "cli.column.gpu"
	columnPrice     fleet.Code = "cli.column.price"
	columnSoFar     fleet.Code = "cli.column.so-far"
	columnNext      fleet.Code = "cli.column.next"
	columnRead      fleet.Code = "cli.column.read"
	columnWallet    fleet.Code = "cli.column.wallet"
	columnLasts     fleet.Code = "cli.column.lasts"
	columnProblem   fleet.Code = "cli.column.problem"
	columnWhen      fleet.Code = "cli.column.when"
	columnAct       fleet.Code = "cli.column.act"
	columnBy        fleet.Code = "cli.column.by"
	columnOutcome   fleet.Code = "cli.column.outcome"
	columnWhy       fleet.Code = "cli.column.why"
	columnStep      fleet.Code = "cli.column.step"
	columnSize      fleet.Code = "cli.column.size"
	columnDay       fleet.Code = "cli.column.day"
	columnAge       fleet.Code = "cli.column.age"
	columnUse       fleet.Code = "cli.column.use"

	partSeen     fleet.Code = "cli.part.seen"
	partPolicies fleet.Code = "cli.part.policies"
	partGuard    fleet.Code = "cli.part.guard"
	partRuns     fleet.Code = "cli.part.runs"
	partHolds    fleet.Code = "cli.part.holds"
	partSettings fleet.Code = "cli.part.settings"
	partHistory  fleet.Code = "cli.part.history"
)

// What comes next for an instance.
const (
	nextAt       fleet.Code = "cli.next.at"
	nextSoon     fleet.Code = "cli.next.soon"
	nextWould    fleet.Code = "cli.next.would"
	nextAnnounce fleet.Code = "cli.next.announce"
	nextUnheard  fleet.Code = "cli.next.unheard"
	nextHeld     fleet.Code = "cli.next.held"
	nextActing   fleet.Code = "cli.next.acting"
	nextAgain    fleet.Code = "cli.next.again"
	nextGoal     fleet.Code = "cli.next.goal"
)

// Of what is billed beside instances.
const (
	wordNone   fleet.Code = "cli.none"
	wordUsedBy fleet.Code = "cli.used-by"
	wordUnused fleet.Code = "cli.unused"
	wordSpan   fleet.Code = "cli.span"
)

// The answers and checks of the guard.
const (
	answerAllow  fleet.Code = "cli.answer.allow"
	answerWait   fleet.Code = "cli.answer.wait"
	answerRefuse fleet.Code = "cli.answer.refuse"

	checkCapability fleet.Code = "cli.check.capability"
	checkWorth      fleet.Code = "cli.check.worth"
	checkCharge     fleet.Code = "cli.check.charge"
	checkData       fleet.Code = "cli.check.data"
	checkProtection fleet.Code = "cli.check.protection"
	checkCeiling    fleet.Code = "cli.check.ceiling"
	checkHold       fleet.Code = "cli.check.hold"
	checkWarning    fleet.Code = "cli.check.warning"
	checkCooldown   fleet.Code = "cli.check.cooldown"
	checkCap        fleet.Code = "cli.check.cap"
	checkApproval   fleet.Code = "cli.check.approval"
	checkMode       fleet.Code = "cli.check.mode"
)

// The outcomes of intents, and the states of those that have none yet.
const (
	outcomePending    fleet.Code = "cli.outcome.pending"
	outcomeStarted    fleet.Code = "cli.outcome.started"
	outcomeWritten    fleet.Code = "cli.outcome.written"
	outcomeDone       fleet.Code = "cli.outcome.done"
	outcomeBilling    fleet.Code = "cli.outcome.done-still-billing"
	outcomeFailed     fleet.Code = "cli.outcome.failed"
	outcomeUnverified fleet.Code = "cli.outcome.unverified"
	outcomeVanished   fleet.Code = "cli.outcome.vanished"
	outcomeAbandoned  fleet.Code = "cli.outcome.abandoned"
)

// What commands say.
const (
	wordAsking   fleet.Code = "cli.asking"
	wordLooking  fleet.Code = "cli.looking"
	wordNoDaemon fleet.Code = "cli.no-daemon"
	wordNobody   fleet.Code = "cli.no-instances"
	wordNoIntent fleet.Code = "cli.no-intents"

	wordPlanSum      fleet.Code = "cli.plan-sum"
	wordPlanFound    fleet.Code = "cli.plan-found"
	wordPlanBlock    fleet.Code = "cli.plan-block"
	wordScopeFailing fleet.Code = "cli.scope-failing"
	wordScopeNever   fleet.Code = "cli.scope-never"
	wordUnreadable   fleet.Code = "cli.unreadable"

	wordWishes         fleet.Code = "cli.wishes"
	wordKeeps          fleet.Code = "cli.keeps"
	wordStateSince     fleet.Code = "cli.state-since"
	wordRate           fleet.Code = "cli.rate"
	wordSoFar          fleet.Code = "cli.so-far"
	wordLastRead       fleet.Code = "cli.last-read"
	wordAgo            fleet.Code = "cli.ago"
	wordBurnUnpriced   fleet.Code = "cli.burn-unpriced"
	wordLastsAtMost    fleet.Code = "cli.lasts-at-most"
	wordStale          fleet.Code = "cli.stale"
	wordRunOpen        fleet.Code = "cli.run-open"
	wordRunOver        fleet.Code = "cli.run-over"
	wordRunEnded       fleet.Code = "cli.run-ended"
	wordRunInterrupted fleet.Code = "cli.run-interrupted"
	wordRunLost        fleet.Code = "cli.run-lost"
	wordRunByProcess   fleet.Code = "cli.run-by-process"
	wordRunByFile      fleet.Code = "cli.run-by-file"
	wordRunByPing      fleet.Code = "cli.run-by-ping"
	wordRunExit        fleet.Code = "cli.run-exit"
	wordHeldBy         fleet.Code = "cli.held-by"

	wordAlone      fleet.Code = "cli.alone"
	wordApplying   fleet.Code = "cli.applying"
	wordApplied    fleet.Code = "cli.applied"
	wordDryRun     fleet.Code = "cli.dry-run"
	wordNow        fleet.Code = "cli.now"
	wordWouldNow   fleet.Code = "cli.would-now"
	wordWaitsStill fleet.Code = "cli.waits-still"
	wordNotAsShown fleet.Code = "cli.not-as-shown"
	wordNotSeen    fleet.Code = "cli.not-seen"

	wordHeld      fleet.Code = "cli.held"
	wordFreed     fleet.Code = "cli.freed"
	wordCalledOff fleet.Code = "cli.called-off"
	wordTooLate   fleet.Code = "cli.too-late"
	wordApproved  fleet.Code = "cli.approved"
	wordConfirm   fleet.Code = "cli.confirm"
	wordNotDone   fleet.Code = "cli.not-done"
	wordAsked     fleet.Code = "cli.asked"
	wordReloaded  fleet.Code = "cli.reloaded"
	wordForgotten fleet.Code = "cli.forgotten"

	wordFine          fleet.Code = "cli.file-fine"
	wordAccountNeeds  fleet.Code = "cli.account-needs"
	wordPolicySays    fleet.Code = "cli.policy-says"
	wordSignal        fleet.Code = "cli.signal"
	wordChannel       fleet.Code = "cli.channel"
	wordNoButtons     fleet.Code = "cli.no-buttons"
	wordOnlineFine    fleet.Code = "cli.online-fine"
	wordOnlineBad     fleet.Code = "cli.online-bad"
	wordOnlineAccount fleet.Code = "cli.online-account"
	whatAccount       fleet.Code = "cli.what.account"
	whatSignal        fleet.Code = "cli.what.signal"
	whatChannel       fleet.Code = "cli.what.channel"

	wordSent      fleet.Code = "cli.sent"
	verdictOK     fleet.Code = "cli.verdict.ok"
	verdictRetry  fleet.Code = "cli.verdict.retry"
	verdictBad    fleet.Code = "cli.verdict.bad-message"
	verdictBroken fleet.Code = "cli.verdict.permanent"
	verdictUnsure fleet.Code = "cli.verdict.unknown"

	wordDemoDone  fleet.Code = "cli.demo-done"
	wordDemoNight fleet.Code = "cli.demo-night"
	wordDemoRead  fleet.Code = "cli.demo-read"
)

// heads gives the first row of a table.
func (g *page) heads(codes ...fleet.Code) []string {
	row := make([]string, len(codes))
	for n, c := range codes {
		row[n] = g.say(c, nil)
	}
	return row
}

func action(a fleet.Action) fleet.Value { return fleet.Nested(guard.ActionReason(a)) }

func (g *page) state(s fleet.State) string {
	return g.reason(fleet.Because(fleet.Code("notify.state."+s.String()), nil))
}

func (g *page) activity(a fleet.Activity) string {
	return g.reason(fleet.Because(fleet.Code("notify.activity."+a.String()), nil))
}

// word gives the text of a word that the program uses itself; one without a text
// is shown as it is.
func (g *page) word(codes map[string]fleet.Code, word string) string {
	code, ok := codes[word]
	if !ok {
		return word
	}
	return g.say(code, nil)
}

func (g *page) check(name string) string {
	return g.word(map[string]fleet.Code{
		"capability": checkCapability, "worth": checkWorth, "charge": checkCharge, "data": checkData,
		"protection": checkProtection, "ceiling": checkCeiling, "hold": checkHold, "warning": checkWarning,
		"cooldown": checkCooldown, "cap": checkCap, "approval": checkApproval, "mode": checkMode,
	}, name)
}

// answer gives the guard's word, in its colour.
func (g *page) answer(a guard.Answer) string {
	return g.paint(a, g.word(map[string]fleet.Code{
		guard.Allow.String(): answerAllow, guard.Wait.String(): answerWait, guard.Refuse.String(): answerRefuse,
	}, a.String()))
}

// outcome gives how an intent ended, or how far it has come.
func (g *page) outcome(i fleet.Intent) string {
	word := string(i.Outcome)
	if i.Open() && i.Outcome == fleet.OutcomeNone {
		word = string(i.State)
	}
	return g.word(map[string]fleet.Code{
		string(fleet.IntentPending): outcomePending, string(fleet.IntentStarted): outcomeStarted, string(fleet.IntentWritten): outcomeWritten,
		string(fleet.OutcomeDone): outcomeDone, string(fleet.OutcomeDoneStillBilling): outcomeBilling,
		string(fleet.OutcomeFailedWrite): outcomeFailed, string(fleet.OutcomeUnverified): outcomeUnverified,
		string(fleet.OutcomeVanished): outcomeVanished, string(fleet.OutcomeAbandoned): outcomeAbandoned,
	}, word)
}

func cards(gpu fleet.GPU) string {
	if gpu.Model == "" && gpu.Count == 0 {
		return "-"
	}
	return cmp.Or(gpu.Model, "GPU") + " ×" + strconv.Itoa(max(gpu.Count, 1))
}

func price(p fleet.Price) string {
	if !p.Known() {
		return "?"
	}
	return p.PerHour.String()
}

// soFar is what the present boot has cost.
func soFar(i fleet.Instance, now time.Time) string {
	if i.State != fleet.StateRunning || i.StartedAt.IsZero() {
		return "-"
	}
	cost, ok := i.CostSoFar(now)
	if !ok {
		return "?"
	}
	return cost.Round().String()
}

// next says what comes next for an instance, and when.
func (g *page) next(i ctl.Planned) string {
	v := fleet.Values{
		"action": action(i.Action), "why": fleet.Nested(i.Reason),
		"at": moment(i.At), "in": fleet.Span(i.At.Sub(g.now)),
	}
	if i.Action != fleet.Keep && i.Goal > i.Action {
		v["goal"] = fleet.Nested(fleet.Because(nextGoal, fleet.Values{"goal": action(i.Goal)}))
	}
	open := i.Intent
	switch {
	case open != nil && open.State != fleet.IntentPending:
		v["since"] = moment(open.StartedAt)
		return g.say(nextActing, v)
	case open != nil && !open.HeldBack.IsZero():
		return g.say(nextHeld, v)
	case open != nil && open.Deadline.IsZero() && open.Warn > 0:
		v["warn"] = fleet.Span(open.Warn)
		return g.say(nextUnheard, v)
	case open != nil && i.At.After(g.now):
		return g.say(nextAt, v)
	case open != nil:
		return g.say(nextSoon, v)
	case i.Action != fleet.Keep && i.Mode != fleet.Enforce:
		return g.say(nextWould, v)
	case i.Action != fleet.Keep:
		return g.say(nextAnnounce, v)
	case i.At.After(g.now):
		return g.say(nextAgain, v)
	}
	return g.reason(i.Reason)
}

// rulings gives the guard's answers as rows.
func (g *page) rulings(rs []guard.Ruling) [][]string {
	rows := make([][]string, len(rs))
	for n, r := range rs {
		rows[n] = []string{g.answer(r.Answer), g.check(r.Check), g.reason(r.Reason)}
	}
	return rows
}

// scopes tells of what could not be read.
func (g *page) scopes(ss []policies.ScopeState, accounts []ctl.Account) {
	for _, s := range ss {
		switch {
		case !s.Failing.IsZero():
			g.line(wordScopeFailing, fleet.Values{
				"scope": fleet.Text(scopeName(s.Scope, accounts)), "why": fleet.Nested(s.Failing), "since": moment(s.Since),
			})
		case s.At.IsZero():
			g.line(wordScopeNever, fleet.Values{"scope": fleet.Text(scopeName(s.Scope, accounts))})
		}
	}
}

// scopeName names a scope by its account's name, where that is known.
func scopeName(s fleet.Scope, accounts []ctl.Account) string {
	for _, a := range accounts {
		if a.Identity == s.Account {
			s.Account = a.Name
		}
	}
	return s.String()
}
