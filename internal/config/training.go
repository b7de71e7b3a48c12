package config

import (
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/signals"
)

// training decodes a policy that acts after a training run has ended.
func (r *reader) training(m *mapping, p *Policy, matched matcher) {
	t := &policies.Training{}
	then := m.need("then", "write then: stop")
	t.Then = action(then, fleet.Stop, fleet.Release)
	p.set("then", then, t.Then.String())
	r.able(then, t.Then, matched.accounts)

	grace := m.take("grace")
	t.Grace = grace.spanOrOff(5 * time.Minute)
	p.set("grace", grace, spanText(t.Grace))
	r.runs(m, p)
	logs := success(m.take("success"), p, t)
	t.Failed = onFailure(m.take("on_failure"), p, t)
	unproven := m.take("release_unproven")
	t.ReleaseUnproven = unproven.flag()
	if t.ReleaseUnproven && t.Then == fleet.Stop {
		unproven.bad("has no meaning with then: stop", "leave it out")
	}
	p.set("release_unproven", unproven, fmt.Sprint(t.ReleaseUnproven))

	t.Log = m.take("log").insidePath()
	if t.Log != "" && !slices.Contains(logs, t.Log) {
		logs = append(logs, t.Log)
	}
	r.terms(m, p, t.Then)
	r.window(m, p)
	r.securing(m, p, t.Then, matched)

	p.Rule.Logs = logs
	p.Ask = asks(p.Match, logs, t.Success.File)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// runs reads how the policy's runs are recognised and when one is over.
func (r *reader) runs(m *mapping, p *Policy) {
	process := m.take("process")
	if match := process.pattern(); match != nil {
		source, _ := process.source()
		p.Pattern = &signals.Pattern{Policy: p.Name, Match: match}
		p.set("process", process, source)
	}
	// Pings tell of runs without a look; processes are seen by looks alone.
	if r.cfg.Ping.Listen == "" || process.given() {
		r.needsLooks(m)
	}
	p.Rule = &signals.RunRule{Policy: p.Name}
	confirm := m.take("confirm").mapping()
	looks, apart := confirm.take("looks"), confirm.take("apart")
	p.Rule.Looks = looks.whole(2, 2, false) // one look is a guess
	p.Rule.Apart = apart.span(time.Minute)
	confirm.done()
	p.set("confirm.looks", looks, fmt.Sprint(p.Rule.Looks))
	p.set("confirm.apart", apart, spanText(p.Rule.Apart))
	pending := m.take("pending_max")
	p.Rule.PendingMax = pending.whole(120, 1, true)
	value := "off"
	if p.Rule.PendingMax > 0 {
		value = fmt.Sprint(p.Rule.PendingMax)
	}
	p.set("pending_max", pending, value)
}

// needsLooks reports a policy that sees runs by looks where nothing looks inside.
func (r *reader) needsLooks(m *mapping) {
	if !slices.ContainsFunc(r.cfg.Signals, Signal.inside) {
		m.bad("looks at runs, and no signal looks inside an instance",
			"add signals: [{type: ssh, key: {file: PATH}}], or type: local for the machine curfew runs in")
	}
}

// needsIdle reports a policy that acts on idle instances where nothing tells which
// are.
func (r *reader) needsIdle(m *mapping) {
	if !slices.ContainsFunc(r.cfg.Signals, Signal.proves) {
		m.bad("looks at what instances do, and no signal looks inside an instance",
			"add signals: [{type: ssh, key: {file: PATH}}], type: local for the machine curfew runs in, or a probe or prometheus with required: true")
	}
}

// success reads when a run has reached its aim, and gives the logs to read.
func success(n node, p *Policy, t *policies.Training) (logs []string) {
	m := n.mapping()
	if m.given() && len(m.keys) == 0 {
		n.bad("is empty", "write what shows success, or leave it out for exit code 0")
	}
	exit := m.take("exit")
	if code := exit.whole(0, 0, false); code != 0 {
		exit.bad(fmt.Sprintf("%d is the exit code of a failure", code), "write exit: 0")
	}
	t.Success.Exit = exit.given()
	file := m.take("file")
	t.Success.File = file.insidePath()
	log := m.take("log").mapping()
	if log.given() {
		t.Success.Log.File = log.need("file", "write file: and the path of the log").insidePath()
		line := log.need("line", "write line: and what the log says in the end")
		t.Success.Log.Match = line.pattern()
		log.done()
		if t.Success.Log.File != "" {
			logs = append(logs, t.Success.Log.File)
		}
		source, _ := line.source()
		p.set("success.log", log.node, t.Success.Log.File+": "+source)
	}
	m.done()
	if file.given() {
		p.set("success.file", file, t.Success.File)
	}
	if exit.given() || !file.given() && !log.given() {
		p.set("success.exit", exit, "0")
	}
	return logs
}

// onFailure reads what is wished after a run that failed; never more than after
// one that did not.
func onFailure(n node, p *Policy, t *policies.Training) policies.End {
	m := n.mapping()
	then, after := m.take("then"), m.take("after")
	end := policies.End{Then: fleet.Stop, After: after.spanOrOff(t.Grace)}
	if then.given() {
		end.Then = action(then, fleet.Keep, fleet.Stop, fleet.Release)
	}
	if end.Then > t.Then && t.Then != fleet.Keep {
		then.bad(fmt.Sprintf("%s goes further than then: %s", end.Then, t.Then), "write "+t.Then.String()+" or keep")
	}
	m.done()
	p.set("on_failure.then", then, end.Then.String())
	p.set("on_failure.after", after, spanText(end.After))
	return end
}

// action reads one of some actions; Keep where there is none.
func action(n node, known ...fleet.Action) fleet.Action {
	var words []string
	for _, a := range known {
		words = append(words, a.String())
	}
	a, err := fleet.ParseAction(n.word(fleet.Keep.String(), words...))
	if err != nil {
		return fleet.Keep
	}
	return a
}
