package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"curfew/internal/estimate"
)

const jobRight = "write such as {name: train, hours: 30, cards: 8}"

// Jobs reads a file of jobs to be reckoned: a list of them, or jobs: and a list. name
// is told in messages. An error is *[Problems].
func Jobs(name string, data []byte) ([]estimate.Job, error) {
	r := &reader{file: name, cfg: &Config{}, instead: jobRight}
	var jobs []estimate.Job
	root, ok := r.parse(data)
	if !ok {
		return nil, r.wrong()
	}
	list := root
	if _, plain := root.ast.(*ast.SequenceNode); !plain {
		m := root.mapping()
		list = m.need("jobs", "write jobs: and a list of them")
		m.done()
	}
	names := map[string]string{}
	for _, entry := range list.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		name := m.need("name", "write name: and what you call it")
		j := r.job(m)
		j.Name = name.name()
		unique(name, j.Name, names)
		m.done()
		jobs = append(jobs, j)
	}
	if list.isEmptyList() {
		list.bad("names no job", jobRight)
	}
	return jobs, r.wrong()
}

// job reads what the flags of curfew estimate say, by the same names.
func (r *reader) job(m *mapping) estimate.Job {
	var j estimate.Job
	hours, epochs, epoch := m.take("hours"), m.take("epochs"), m.take("epoch_time")
	j.Hours, j.Epochs, j.EpochTime = hours.hours(), epochs.whole(0, 1, false), epochTime(epoch)
	switch {
	case hours.given() && (epochs.given() || epoch.given()):
		hours.bad("stands beside epochs", "keep one of the two")
	case epochs.given() && !epoch.given():
		epochs.bad("does not tell how long one takes", "write epoch_time: 48s beside it, or {OFFER: 48s, OTHER: 63s}")
	case epoch.given() && !epochs.given():
		epoch.bad("does not tell how many there are", "write epochs: 50 beside it")
	case !m.tried("hours", "epochs"):
		m.bad("does not tell how much work there is", "write hours: 30, or epochs: 50 and epoch_time: 48s")
	}
	for _, v := range m.take("cards").oneOrMany() {
		if n := v.whole(0, 1, false); n > 0 {
			j.Cards = append(j.Cards, n)
		}
	}
	j.Efficiency = r.efficiency(m.take("efficiency"))
	j.Setup = m.take("setup").span(0)
	j.Upload = read(m.take("upload"), estimate.ParseTransfer, "write such as 80GB@5MB/s")
	j.Download = read(m.take("download"), estimate.ParseTransfer, "write such as 50GB")
	j.DiskGB, j.SnapshotGB, j.ImageGB = m.take("disk").size(), m.take("snapshot").size(), m.take("image").size()
	j.Keep = m.take("keep").span(0)
	j.Rework = read(m.take("rework"), estimate.ParsePercent, "write such as 15%")
	j.Times = m.take("times").whole(1, 1, false)
	return j
}

// epochTime reads how long an epoch takes: everywhere, or by what it was measured
// at.
func epochTime(n node) map[string]time.Duration {
	if !n.given() {
		return nil
	}
	if _, single := n.source(); single {
		return map[string]time.Duration{"": n.span(0)}
	}
	out := map[string]time.Duration{}
	for name, v := range n.mapping().all() {
		out[name] = v.span(0)
	}
	return out
}

// efficiency reads shares of linear speed-up by the number of cards: everywhere, or
// by what they were measured at.
func (r *reader) efficiency(n node) map[string]map[int]estimate.Number {
	m := n.mapping()
	if !m.given() {
		return nil
	}
	out := map[string]map[int]estimate.Number{}
	for _, key := range slices.Clone(m.keys) {
		v := m.take(key)
		if _, single := v.source(); single {
			shareOf(out, "", key, v)
			continue
		}
		inner := v.mapping()
		for count, share := range inner.all() {
			shareOf(out, key, count, share)
		}
	}
	return out
}

func shareOf(out map[string]map[int]estimate.Number, name, cards string, v node) {
	n, err := strconv.Atoi(cards)
	if err != nil || n < 1 {
		v.bad(fmt.Sprintf("%q is not a number of cards", cards), "write such as {4: 0.79}")
		return
	}
	if out[name] == nil {
		out[name] = map[int]estimate.Number{}
	}
	out[name][n] = read(v, estimate.ParseShare, "write such as 0.79, or 79%")
}
