package config

import (
	"slices"
	"strconv"
	"time"

	"curfew/internal/accept"
)

// Acceptance says what a fresh machine must come up to, and how it is prepared.
type Acceptance struct {
	accept.Thresholds
	Bootstrap Bootstrap
}

// Bootstrap is the script that prepares a machine; without Run and File there is none.
// Secrets and Timeout also hold for one that is named by hand.
type Bootstrap struct {
	Run     string            // the script itself
	File    string            // where it is
	Secrets map[string]Secret // by the name of the environment variable
	Timeout time.Duration
}

// acceptance reads what a fresh machine must come up to.
func acceptance(n node) Acceptance {
	a := Acceptance{Thresholds: accept.Defaults()}
	t := &a.Thresholds
	m := n.mapping()
	if v := m.take("cuda").as(form{kind: kindAny}); v.given() {
		t.CUDA = read(v, accept.ParseVersion, "write such as 12.4")
	}
	all := m.take("allreduce")
	sum := all.mapping()
	t.AllReduceFail, t.AllReduceWarn = sum.take("fail").speed(t.AllReduceFail), sum.take("warn").speed(t.AllReduceWarn)
	sum.done()
	if t.AllReduceWarn > 0 && t.AllReduceWarn < t.AllReduceFail {
		all.bad("warns of less than what fails", "write more under warn than under fail")
	}
	t.Shm = m.take("shm").bytes(t.Shm)
	disk := m.take("disk").mapping()
	t.Path, t.Disk = disk.take("path").insidePath(), disk.take("at_least").speed(t.Disk)
	disk.done()
	net := m.take("network").mapping()
	t.URL = net.need("url", "write url: and the address of a large file near the machine").webURL()
	t.Network = net.take("at_least").speed(t.Network)
	net.done()
	t.Cores = float64(m.take("cpu").whole(0, 1, true))
	t.Memory, t.Free = m.take("memory").bytes(0), m.take("free").bytes(0)
	t.Spread = m.take("spread").percent(t.Spread, true)
	require := m.take("require")
	t.Require, t.Off = checks(require), checks(m.take("off"))
	for _, c := range t.Require {
		if slices.Contains(t.Off, c) {
			require.bad(string(c)+" stands under off as well", "keep one of the two")
		}
	}
	t.Timeout = m.take("timeout").span(t.Timeout)
	a.Bootstrap = bootstrap(m.take("bootstrap"))
	m.done()
	return a
}

// checks reads names of checks, one or several.
func checks(n node) []accept.Check {
	var words []string
	for _, c := range accept.Checks() {
		words = append(words, string(c))
	}
	var out []accept.Check
	for _, v := range n.oneOrMany() {
		if w := v.word("", words...); w != "" {
			out = append(out, accept.Check(w))
		}
	}
	return out
}

// bootstrap reads the script that prepares a machine.
func bootstrap(n node) Bootstrap {
	b := Bootstrap{}
	m := n.mapping()
	run, file := m.take("run"), m.take("file")
	b.Run, b.File = run.text(""), n.r.beside(file.text(""))
	secrets := m.take("secrets").mapping()
	for name, v := range secrets.all() {
		s := v.secret()
		if name != anyKey && !isEnvName(name) {
			v.bad(strconv.Quote(name)+" is not the name of an environment variable", "write letters, digits and _")
			continue
		}
		if b.Secrets == nil {
			b.Secrets = map[string]Secret{}
		}
		b.Secrets[name] = s
	}
	b.Timeout = m.take("timeout").span(30 * time.Minute)
	m.done()
	if run.given() && file.given() {
		file.bad("stands beside run", "keep one of the two")
	}
	if b.Run != "" {
		if err := (accept.Bootstrap{Script: b.Run}).Check(); err != nil {
			run.bad(halves(err, "write the commands that prepare the machine"))
		}
	}
	return b
}

// speed reads bytes a second; off is 0.
func (n node) speed(def float64) float64 {
	n = n.as(form{kind: kindSpeed, off: true, def: orOff(def, accept.Speed)})
	switch s, _ := n.source(); {
	case !n.given():
		return def
	case s == "off":
		return 0
	}
	return read(n, accept.ParseSpeed, "write such as 500MB/s, or off")
}

// bytes reads an amount of data in bytes; off is 0.
func (n node) bytes(def int64) int64 {
	n = n.as(form{kind: kindSize, off: true, def: orOff(float64(def), accept.Size)})
	switch s, _ := n.source(); {
	case !n.given():
		return def
	case s == "off":
		return 0
	}
	return read(n, accept.ParseSize, "write such as 64GB, or off")
}

func orOff(v float64, say func(float64) string) string {
	if v == 0 {
		return "off"
	}
	return say(v)
}
