package setup

import (
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
)

// What the comments of a new configuration say.
const (
	CommentHead    fleet.Code = "cli.init.comment.head"
	CommentMode    fleet.Code = "cli.init.comment.mode"
	CommentModeBox fleet.Code = "cli.init.comment.mode-box"
	CommentState   fleet.Code = "cli.init.comment.state"
	CommentEnv     fleet.Code = "cli.init.comment.env"
	CommentPrices  fleet.Code = "cli.init.comment.prices"
	CommentMachine fleet.Code = "cli.init.comment.machine"
	CommentNoStop  fleet.Code = "cli.init.comment.no-stop"
	CommentOnStop  fleet.Code = "cli.init.comment.on-stop"
	CommentSSH     fleet.Code = "cli.init.comment.ssh"
	CommentLocal   fleet.Code = "cli.init.comment.local"
	CommentProtect fleet.Code = "cli.init.comment.protect"
	CommentMatch   fleet.Code = "cli.init.comment.match"
	CommentProcess fleet.Code = "cli.init.comment.process"
	CommentThen    fleet.Code = "cli.init.comment.then"
	CommentIdle    fleet.Code = "cli.init.comment.idle"
	CommentNotify  fleet.Code = "cli.init.comment.notify"
	CommentAlone   fleet.Code = "cli.init.comment.no-channel"
)

// What is taken where nothing else is said.
const (
	DefaultNames   = "*"
	DefaultProcess = "python .*train"
)

// BoxAccount is the account of the machine that curfew runs in.
const BoxAccount = "box"

// Secret is where a credential is kept: one of both.
type Secret struct {
	Key  string // as in the configuration
	Env  string
	File string // the whole path
}

// Account is an account to guard.
type Account struct {
	Name, Provider string
	Credential     []Secret
	BaseURL        string // empty: the platform's own
	Unpriced       string // a model whose price the platform did not tell; empty: none
}

// Box is the machine that curfew runs in.
type Box struct {
	Name        string
	Platform    string // its title; empty: not known
	Provider    string // whose token the platform's users have; empty: there is none
	Stop        string // empty: it cannot be stopped
	Price       string // empty: unknown
	Billing     fleet.Billing
	EndsBilling fleet.Tri
	KeepsData   fleet.Keeps
	AutoRelease string // empty: unknown
	Model       string
	Cards       int
	Note        fleet.Reason // what to know of the platform
}

// Channel is where people are told.
type Channel struct {
	Name, Type string
	Credential []Secret
	Settings   [][2]string
	BaseURL    string
}

// Plan is everything that was answered.
type Plan struct {
	Zone     string
	State    string // the whole path of its file
	Accounts []Account
	Box      *Box
	Names    string // pattern of the instances to guard
	Process  string // pattern of the training process
	Channel  *Channel
}

// YAML writes the plan as a configuration, in dry-run and with comments in the
// reader's language.
func (p Plan) YAML(r *text.Renderer) string {
	w := &writer{r: r}
	w.comment("", CommentHead, nil)
	w.line("")
	if p.Box != nil {
		w.comment("", CommentModeBox, nil)
	} else {
		w.comment("", CommentMode, nil)
	}
	w.line("mode: dry-run")
	w.line("timezone: " + quote(p.Zone))
	w.line("language: " + string(r.Language()))
	w.comment("", CommentState, nil)
	w.line("state: " + p.state())
	w.line("")
	w.line("accounts:")
	for _, a := range p.Accounts {
		w.account(a)
	}
	if p.Box != nil {
		w.box(*p.Box)
	}
	w.line("")
	p.signals(w)
	if p.Box == nil {
		w.line("")
		w.comment("", CommentProtect, nil)
		w.line("protect:")
		w.line("  names: [" + quote("keep-*") + "]")
	}
	w.line("")
	p.policies(w)
	w.line("")
	p.notify(w)
	return w.b.String()
}

// state is where the state is, bare where the path is.
func (p Plan) state() string {
	const scheme = "sqlite:"
	if quote(p.State) == p.State {
		return scheme + p.State
	}
	return quote(scheme + p.State)
}

func (p Plan) signals(w *writer) {
	w.line("signals:")
	if len(p.Accounts) > 0 {
		w.comment("  ", CommentSSH, nil)
		w.line("  - {type: ssh}")
	}
	if p.Box != nil {
		w.comment("  ", CommentLocal, nil)
		w.line("  - {type: local}")
	}
}

// match is what the policies are about.
func (p Plan) match() string {
	var names []string
	for _, a := range p.Accounts {
		names = append(names, quote(a.Name))
	}
	if p.Box != nil {
		names = append(names, BoxAccount)
	}
	account := strings.Join(names, ", ")
	if len(names) > 1 {
		account = "[" + account + "]"
	}
	if p.Box != nil {
		return "{account: " + account + "}"
	}
	return "{account: " + account + ", name: " + quote(p.Names) + "}"
}

func (p Plan) policies(w *writer) {
	w.line("policies:")
	w.line("  - name: after-training")
	w.line("    type: training")
	if p.Box == nil {
		w.comment("    ", CommentMatch, nil)
	}
	w.line("    match: " + p.match())
	w.comment("    ", CommentProcess, nil)
	w.line("    process: " + quote(p.Process))
	if p.Box == nil || p.Box.KeepsData == fleet.KeepsAll {
		w.comment("    ", CommentThen, nil)
	}
	w.line("    then: stop")
	w.line("")
	w.comment("  ", CommentIdle, nil)
	for _, line := range []string{
		"- name: idle", "  type: idle", "  match: " + p.match(), "  for: 1h", "  then: stop",
	} {
		w.line("  # " + line)
	}
}

func (p Plan) notify(w *writer) {
	c := p.Channel
	if c == nil {
		w.comment("", CommentAlone, nil)
		w.line("# notify:")
		w.line("#   channels:")
		w.line("#     - {name: wx, type: wecom, key: {env: WECOM_KEY}}")
		return
	}
	w.comment("", CommentNotify, fleet.Values{"channel": fleet.Text(c.Name)})
	w.line("notify:")
	w.line("  channels:")
	pairs := []string{"name: " + quote(c.Name), "type: " + c.Type}
	for _, s := range c.Credential {
		pairs = append(pairs, s.Key+": "+s.yaml())
	}
	for _, s := range c.Settings {
		pairs = append(pairs, s[0]+": "+quote(s[1]))
	}
	if c.BaseURL != "" {
		pairs = append(pairs, "base_url: "+quote(c.BaseURL))
	}
	w.line("    - {" + strings.Join(pairs, ", ") + "}")
}

// writer puts lines together.
type writer struct {
	r *text.Renderer
	b strings.Builder
}

func (w *writer) line(s string) { w.b.WriteString(s + "\n") }

func (w *writer) comment(indent string, code fleet.Code, v fleet.Values) {
	w.remark(indent, fleet.Because(code, v))
}

func (w *writer) remark(indent string, reason fleet.Reason) {
	for line := range strings.SplitSeq(w.r.Reason(reason, time.Time{}), "\n") {
		w.line(indent + "# " + line)
	}
}

func (w *writer) account(a Account) {
	w.line("  - name: " + quote(a.Name))
	w.line("    provider: " + a.Provider)
	for _, s := range a.Credential {
		if s.Env != "" {
			w.comment("    ", CommentEnv, fleet.Values{"env": fleet.Text(s.Env)})
		}
		w.line("    " + s.Key + ": " + s.yaml())
	}
	if a.BaseURL != "" {
		w.line("    base_url: " + quote(a.BaseURL))
	}
	if a.Unpriced != "" {
		w.comment("    ", CommentPrices, nil)
		w.line("    # prices: {" + quote(a.Unpriced) + ": 1.98 CNY}")
	}
}

func (w *writer) box(b Box) {
	w.line("  - name: " + BoxAccount)
	w.line("    provider: machines")
	w.line("    machines:")
	w.comment("      ", CommentMachine, nil)
	if b.Platform != "" && !b.Note.IsZero() {
		w.remark("      ", b.Note)
	}
	w.line("      - name: " + quote(b.Name))
	w.line("        host: local")
	if b.Cards > 0 {
		w.line("        gpu: {model: " + quote(b.Model) + ", count: " + strconv.Itoa(b.Cards) + "}")
	}
	if b.Stop != "" {
		w.line("        stop: " + quote(b.Stop))
	} else {
		w.comment("        ", CommentNoStop, nil)
		w.line("        # stop: shutdown -h now")
	}
	if b.Price != "" {
		w.line("        price: " + b.Price)
		if b.Billing != fleet.BillingUnknown {
			w.line("        billing: " + string(b.Billing))
		}
	} else {
		w.line("        # price: 1.98 CNY")
	}
	w.comment("        ", CommentOnStop, nil)
	w.line("        on_stop: {ends_billing: " + triWord(b.EndsBilling) + ", keeps_data: " + keepsWord(b.KeepsData) + "}")
	if b.AutoRelease != "" {
		w.line("        auto_release: " + b.AutoRelease)
	} else {
		w.line("        # auto_release: 15d")
	}
}

func (s Secret) yaml() string {
	if s.Env != "" {
		return "{env: " + s.Env + "}"
	}
	return "{file: " + quote(s.File) + "}"
}

func triWord(t fleet.Tri) string {
	switch t {
	case fleet.Yes:
		return "yes"
	case fleet.No:
		return "no"
	}
	return "unknown"
}

func keepsWord(k fleet.Keeps) string {
	if k == fleet.KeepsUnknown {
		return "unknown"
	}
	return string(k)
}

// quote writes words as YAML takes them for words: bare where they can be nothing
// else.
func quote(s string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-."
	plain := s != "" && strings.Trim(s, bare) == ""
	letter := plain && (s[0] == '/' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		letter = false
	}
	if letter {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
