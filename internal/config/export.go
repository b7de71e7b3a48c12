package config

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/signals/probe"
)

// securing reads what is done with an instance's data before it is released.
func (r *reader) securing(m *mapping, p *Policy, goal fleet.Action, matched matcher) {
	var d fleet.DataTerms
	if p.Type != "idle" { // what is copied is told by a run
		d.Export = r.export(m.take("export"), p, goal)
	}
	d.SaveImage = r.saveImage(m.take("save_image"), p, goal, matched)
	d.With = r.with(m.take("with"), p, goal, matched)
	if len(d.Ways())+len(d.With) > 0 {
		p.Terms.Data = &d
	}
}

// export reads how data is copied away. All of it but the time-out must be said: a
// copy of nothing that nobody has compared is no ground to destroy anything.
func (r *reader) export(n node, p *Policy, goal fleet.Action) *fleet.Export {
	m := n.mapping()
	e := &fleet.Export{}
	require := m.need("require", `write require: and the files that must be there, such as ["/root/out/*.safetensors"]`)
	for _, v := range require.files() {
		if glob := v.insidePath(); glob != "" {
			if _, err := path.Match(glob, ""); err != nil {
				v.bad(fmt.Sprintf("%q is not a pattern of files", glob), "write a path in which * stands for anything within a name")
				continue
			}
			e.Require = append(e.Require, glob)
		}
	}
	run := m.need("run", "write run: and the command that copies the data away")
	e.Run = run.command()
	verify := m.need("verify", "write verify: and a command that fails where the copy differs")
	e.Verify = verify.command()
	timeout := m.take("timeout")
	e.Timeout = timeout.span(30 * time.Minute)
	m.done()
	if !m.given() {
		return nil
	}
	switch {
	case goal != fleet.Release && goal != fleet.Keep:
		n.bad("has no meaning with then: "+goal.String(), "leave it out, or write then: release")
	case p.Terms.Discard:
		n.bad("stands beside data: discard, which lets the data go", "keep one of the two")
	case !slices.ContainsFunc(r.cfg.Signals, Signal.inside):
		n.bad("is run inside an instance, and no signal says how to log in", "add signals: [{type: ssh, key: {file: PATH}}]")
	}
	p.set("export.require", require, strings.Join(e.Require, ", "))
	p.set("export.run", run, e.Run)
	p.set("export.verify", verify, e.Verify)
	p.set("export.timeout", timeout, spanText(e.Timeout))
	return e
}

// files reads one pattern or several, at least one.
func (n node) files() []node {
	if n.isEmptyList() {
		n.bad("is empty", "write the files that must be there")
	}
	return n.oneOrMany()
}

// command reads a command for a shell, into which is put what is known of an
// instance.
func (n node) command() string {
	if n.question(probe.ParseCommand) == nil {
		return ""
	}
	s, _ := n.source()
	return s
}
