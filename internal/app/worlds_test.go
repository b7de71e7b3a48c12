package app

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/providers/sim"
)

// A random world lives for lifespan. Ages and limits lie further apart than that,
// so that nothing comes due but by what is done.
const (
	warmUp   = 2 * time.Hour
	lookGap  = 20 * time.Minute
	roundGap = 100 * time.Minute
	rounds   = 3
	day      = 24 * time.Hour
)

// dice draws a random world, always the same one of a seed.
type dice struct {
	*rand.Rand
	purse *rand.Rand          // what is drawn of money is drawn apart
	drawn map[string]sim.Spec // the instances, by their id
}

func roll(seed uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2)), map[string]sim.Spec{}}
}

// one in n.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

func (d dice) age() time.Duration {
	return pick(d, 2*time.Hour, 40*time.Hour, 6*day, 30*day, 30*day)
}

func (d dice) limit() time.Duration { return pick(d, day, day, 3*day, 14*day) }

func (d dice) name(n int) string {
	return fmt.Sprintf("%s-%d", pick(d, "exp", "exp", "exp", "exp", "web", "keep"), n)
}

func (d dice) labels() map[string]string {
	switch d.IntN(16) {
	case 0, 1:
		return map[string]string{"curfew": "keep"}
	case 2:
		return map[string]string{labelAtMost: pick(d, "stop", "release", "nonsense")}
	}
	return nil
}

// cloud fills a cloud.
func (d dice) cloud(now func() time.Time) *sim.Cloud {
	c := sim.New(sim.Options{
		Now: now, Accounts: []sim.Account{{Name: "lab"}, {Name: "east"}},
		Timing: sim.Timing{BootTime: -1, StopTime: -1, ReleaseTime: -1, DeleteTime: -1},
		Ways:   sim.Ways{ShowsReleased: d.one(2), HidesStarts: d.one(4), HidesDetached: d.one(4), Incarnations: d.one(4)},
	})
	instances, disks, snapshots := 1+d.IntN(10), d.IntN(8), d.IntN(10)
	for n := range instances {
		c.MustAdd(d.instance(n))
	}
	for n := range disks {
		r := d.resource("disk", n)
		if instances > 0 && d.one(2) {
			r.AttachedTo, r.DetachedFor = fmt.Sprintf("i-%d", d.IntN(instances)), 0
			r.WithInstance, r.System, r.Account = pick(d, sim.Answer(""), "no", "yes", "unknown"), d.one(4), "lab"
		}
		add(c, fleet.KindDisk, r)
	}
	for n := range snapshots {
		r := d.resource("snapshot", n)
		r.DetachedFor = 0
		switch {
		case disks > 0 && d.one(2):
			r.OfDisk = fmt.Sprintf("disk-%d", d.IntN(min(disks, 2)))
		case instances > 0 && d.one(2):
			r.OfInstance = "i-0"
		}
		add(c, fleet.KindSnapshot, r)
	}
	for n := range d.IntN(4) {
		r := d.resource("image", n)
		r.DetachedFor = 0
		switch {
		case snapshots > 0 && d.one(2):
			r.OfSnapshot = fmt.Sprintf("snapshot-%d", d.IntN(snapshots))
		case instances > 0 && d.one(2):
			r.OfInstance = "i-0"
		}
		add(c, fleet.KindImage, r)
	}
	for n := range d.IntN(4) {
		r := d.resource("ip", n)
		r.SizeGB = 0
		r.Address = fmt.Sprintf("203.0.113.%d", n)
		add(c, fleet.KindPublicIP, r)
	}
	return c
}

// add adds what makes sense; what does not is left out of the world.
func add(c *sim.Cloud, kind fleet.ThingKind, r sim.Resource) {
	_, _ = c.AddResource(kind, r)
}

func (d dice) instance(n int) sim.Spec {
	s := sim.Spec{
		ID: fmt.Sprintf("i-%d", n), Account: "lab", Name: d.name(n), Labels: d.labels(), Age: d.age(), Price: fleet.CNY(2_000_000),
		State:           pick(d, fleet.StateRunning, fleet.StateRunning, fleet.StateRunning, fleet.StateRunning, fleet.StateStopped),
		Charge:          pick(d, fleet.ChargeOnDemand, fleet.ChargeOnDemand, fleet.ChargeOnDemand, fleet.ChargeSpot, fleet.ChargePeriod),
		StopEndsBilling: pick(d, sim.Answer(""), "", "", "yes", "no", "unknown"),
		StopKeeps:       pick(d, fleet.KeepsAll, fleet.KeepsAll, fleet.KeepsAll, fleet.KeepsAll, fleet.KeepsPart, fleet.KeepsNone),
		Protected:       d.one(12), ReleasesRunning: d.one(2),
	}
	if s.StopEndsBilling == "no" {
		s.ReleasesRunning = true // as platforms of that kind do
	}
	if d.one(12) {
		s.State = pick(d, fleet.StateFailed, fleet.StateCreating)
	}
	if s.Charge == fleet.ChargePeriod {
		s.EndsIn, s.Refundable = 20*day, fleet.CNY(5_000_000)
	}
	if d.one(3) {
		s.GPU = sim.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24}
	}
	if d.one(10) {
		s.Unread = []string{pick(d, "labels", "name", "price")}
	}
	run := sim.Process{Command: "python -u train.py", From: -9 * time.Minute, Load: 90, MemoryMB: 9000, Exit: d.IntN(2)}
	if d.one(2) {
		run.Run = fmt.Sprintf("r-%d", n)
	}
	switch d.IntN(6) {
	case 0: // nothing ever ran
	case 1:
		s.Box.Processes = []sim.Process{run} // it runs for ever
	case 2:
		run.To = -5 * time.Minute
		s.Box.Processes = []sim.Process{run}
	default:
		run.To = 10 * time.Minute
		s.Box.Processes = []sim.Process{run}
	}
	switch d.IntN(16) {
	case 0:
		s.Box.Dark = []sim.Stretch{{}}
	case 1:
		s.Box.Unreadable = []sim.Unreadable{{Reading: pick(d, "cards", "processes", "sessions", "runs", "hold"), Why: "broken"}}
	case 2:
		s.Box.Holds = []sim.Hold{{At: -time.Minute, Until: 5 * day}}
	case 3:
		keys := sim.Session{Kind: "tty", Name: "pts/0", From: -time.Minute}
		for at := time.Duration(0); at < day; at += 5 * time.Minute {
			keys.Inputs = append(keys.Inputs, at)
		}
		s.Box.Sessions = []sim.Session{keys}
	}
	d.drawn[s.ID] = s
	return s
}

func (d dice) resource(kind string, n int) sim.Resource {
	r := sim.Resource{
		ID: fmt.Sprintf("%s-%d", kind, n), Account: pick(d, "lab", "lab", "lab", "east"), Name: d.name(n), Labels: d.labels(), SizeGB: 10,
		Age: d.age(), Price: fleet.CNY(10_000), Protected: d.one(12), Shared: pick(d, sim.Answer(""), "", "", "", "", "yes", "unknown"),
	}
	r.DetachedFor = min(d.age(), r.Age)
	if d.one(10) {
		r.Unread = []string{pick(d, "labels", "used_by", "attached_to")}
	}
	if d.one(10) && (kind == "snapshot" || kind == "image") {
		r.ReadyIn = -1
	}
	if d.one(10) {
		r.Charge, r.EndsIn = fleet.ChargePeriod, 20*day
	}
	return r
}

// file writes a configuration; one of them may have modes of its own.
func (d dice) file(state string, modes bool) func(mode string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "timezone: UTC\nstate: sqlite:%s\n", state)
	east := ""
	if d.one(6) {
		east = ", at_most: stop"
	}
	if modes && d.one(2) {
		east += ", mode: dry-run"
	}
	fmt.Fprintf(&b, "accounts:\n  - {name: lab, provider: sim, world: world.yaml}\n  - {name: east, provider: sim, world: world.yaml%s}\n", east)
	fmt.Fprintf(&b, "signals: [{type: sim, every: %s, timeout: 10s}]\nnotify: {channels: [{name: me, type: console}]}\n", lookGap)
	if d.one(2) {
		b.WriteString("protect: {labels: {curfew: keep}, names: [\"keep-*\"]}\n")
	}
	b.WriteString("caps:\n")
	for _, act := range []string{"start", "stop", "release", "delete"} {
		switch d.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "  %s: {per_hour: off, percent: off}\n", act)
		case 1:
			fmt.Fprintf(&b, "  %s: {per_hour: %d, percent: off}\n", act, 1+d.IntN(3))
		case 2:
			fmt.Fprintf(&b, "  %s: {per_hour: 3, percent: %d%%}\n", act, pick(d, 10, 40, 70))
		case 3:
			fmt.Fprintf(&b, "  %s: {per_hour: 9, percent: off}\n", act)
		}
	}
	b.WriteString("policies:\n")
	for n := range 2 + d.IntN(5) {
		fmt.Fprintf(&b, "  - {name: p%d, %s}\n", n, d.policy(modes))
	}
	for n, money := range []string{"balance", "budget"} {
		if m := (dice{Rand: d.purse}); m.one(3) {
			fmt.Fprintf(&b, "  - {name: m%d, type: %s, %s}\n", n, money, m.money(money, modes))
		}
	}
	return func(mode string) string { return "mode: " + mode + "\n" + b.String() }
}

func (d dice) policy(modes bool) string {
	var more []string
	may := func(n int, key string) {
		if d.one(n) {
			more = append(more, key)
		}
	}
	match := pick(d, "all", "all", "all", "all", `{name: "exp-*"}`, "{account: lab}", "{account: east}", "{label: {curfew: keep}}", `{expr: 'name != "web-1"'}`)
	then := pick(d, "stop", "stop", "release")
	if modes {
		may(3, "mode: dry-run")
	}
	may(10, "approval: true")
	may(6, "prepaid: refund")
	kind := pick(d, "training", "training", "idle", "offhours", "lifetime", "snapshots", "snapshots", "orphans", "orphans")
	warn := fmt.Sprintf("warn: {stop: %dm, release: %dm}", 5+d.IntN(4)*5, 5+d.IntN(5)*5)
	switch kind {
	case "training":
		more = append(more, "process: 'python .*train'", "then: "+then, warn)
		if !d.one(4) {
			more = append(more, "data: discard")
		}
		if then == "release" {
			may(2, "release_unproven: true")
		}
	case "idle":
		more = append(more, "for: 100m", "then: "+then, warn)
		if !d.one(4) {
			more = append(more, "data: discard")
		}
	case "offhours":
		more = append(more, `schedule: "0 10 * * *"`, "window: 12h", "then: stop", "if_busy: "+pick(d, "wait", "warn", "force"), warn)
		may(2, "data: discard")
	case "lifetime":
		more = append(more, "max: "+hours(d.limit()), "then: stop", warn)
	case "snapshots":
		more = append(more, "older_than: "+hours(d.limit()), fmt.Sprintf("keep_last: %d", d.IntN(3)), "then: delete", warn,
			"kinds: "+pick(d, "[snapshots]", "[images]", "[snapshots, images]"))
		may(4, `schedule: "0 10 * * *", window: 12h`)
	case "orphans":
		more = append(more, "unused_for: "+hours(d.limit()), "then: "+pick(d, "warn", "delete", "delete"), warn,
			"kinds: "+pick(d, "[disks]", "[ips]", "[disks, ips]", "[disks, ips, stopped]"))
	}
	return "type: " + kind + ", match: " + match + ", " + strings.Join(more, ", ")
}

// money draws a policy about money. 1000 CNY are in the wallet, and nothing comes near a
// level or a limit while the world lives.
func (d dice) money(kind string, modes bool) string {
	more := []string{
		"match: " + pick(d, "all", "all", "all", `{name: "exp-*"}`, "{account: lab}", "{account: east}"),
		fmt.Sprintf("warn: {stop: %dm}", 5+d.IntN(4)*5),
	}
	if modes && d.one(3) {
		more = append(more, "mode: dry-run")
	}
	then := pick(d, "stop-idle", "stop-idle", "stop-all", "warn")
	if kind == "balance" {
		level := pick(d, "below: 3000 CNY", "below: 3000 CNY", "below: 100 CNY", "runway: 100000h")
		more = append(more, "max_age: 240h", "levels: [{"+level+", then: "+then+"}]")
	} else {
		more = append(more, "period: "+pick(d, "month", "month, by: owner", "month, by: account", "run"), "limit: "+pick(d, "0.01 CNY", "0.01 CNY", "100000 CNY"), "at: {100%: "+then+"}")
	}
	return strings.Join(more, ", ")
}

func hours(d time.Duration) string { return fmt.Sprintf("%dh", int(d.Hours())) }
