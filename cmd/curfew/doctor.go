package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/config"
	"curfew/internal/doctor"
	"curfew/internal/guard"
	"curfew/providers"
)

// What doctor says besides its results.
const (
	wordDoctorFine    fleet.Code = "doctor.sum-fine"
	wordDoctorBad     fleet.Code = "doctor.sum-bad"
	wordDoctorDo      fleet.Code = "doctor.do"
	wordDoctorOK      fleet.Code = "doctor.level-ok"
	wordDoctorWarn    fleet.Code = "doctor.level-warn"
	wordDoctorTrouble fleet.Code = "doctor.level-bad"

	wordDoctorState    fleet.Code = "doctor.reading-state"
	wordDoctorAccounts fleet.Code = "doctor.asking-accounts"
	wordDoctorLooks    fleet.Code = "doctor.looking"
	wordDoctorSends    fleet.Code = "doctor.sending"
)

func (p *program) doctorCommand() *cobra.Command {
	send := false
	c := &cobra.Command{
		Use: "doctor", Short: "Check everything curfew needs, and say what to do",
		Long: `doctor checks what curfew needs: the clock, the state and the disk it lies on, the
daemon, every account, a look at what runs there, every channel, the listener for
pings, and the machine curfew runs in where one is declared. Each line is ok, or
says what is wrong and what to do. It exits 1 if something is broken.

It only reads, works with and without a running daemon, and sends a test message to
every channel only with --send. The few requests it makes are not counted in the
daemon's budget.`,
		Example: "  curfew doctor\n  curfew doctor --send --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return p.doctor(c.Context(), send) },
	}
	c.Flags().BoolVar(&send, "send", false, "send a test message to every channel, too")
	return c
}

// examination is one run of doctor.
type examination struct {
	p    *program
	cfg  *config.Config
	open *app.Opener
	send bool

	answers  bool           // a daemon does
	requests map[string]int // counted today, by account
	accounts map[string]providers.Account
	running  []fleet.Instance

	mu   sync.Mutex // guards what follows
	told []doctor.Told
}

// examined is what doctor prints as JSON.
type examined struct {
	OK      bool            `json:"ok"`
	Results []doctor.Result `json:"results"`
}

func (p *program) doctor(ctx context.Context, send bool) error {
	cfg, err := p.configured()
	if err != nil {
		return err
	}
	x := &examination{p: p, cfg: cfg, send: send, open: p.opener(), accounts: map[string]providers.Account{}}
	x.open.Answered = x.answered
	x.open.Out = p.stderr // a test message on the console is no part of the answer
	defer x.close()
	var results []doctor.Result
	// The daemon says who has the state; accounts are opened before what looks at
	// their instances.
	for _, check := range []func(context.Context) []doctor.Result{
		x.daemon, x.state, x.askAccounts, x.looks, x.channels, x.ping, x.box,
	} {
		results = append(results, check(ctx)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	results = append([]doctor.Result{doctor.Clock(x.told), x.zone()}, results...)
	if p.asJSON {
		err = p.writeJSON(examined{OK: doctor.Healthy(results), Results: results})
	} else {
		p.page(p.now()).examined(results)
	}
	if err == nil && !doctor.Healthy(results) {
		err = &exitError{code: exitFailed}
	}
	return err
}

// answered notes the time that an answer bears. One from a cache bears the time at
// which it was made.
func (x *examination) answered(entry string, resp *http.Response) {
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || resp.Header.Get("Age") != "" {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told = append(x.told, doctor.Told{By: entry, Date: date, At: x.p.now()})
}

func (x *examination) zone() doctor.Result {
	schedules := false
	for _, policy := range x.cfg.Policies {
		schedules = schedules || policy.Window != nil
	}
	return doctor.Zone(x.cfg.Timezone, x.cfg.Timezone != time.Local, schedules, x.p.now())
}

func (x *examination) close() {
	for _, a := range x.accounts {
		if a.Close != nil {
			_ = a.Close() // nothing was written
		}
	}
}

// examined prints the results, with what to do below each.
func (g *page) examined(rs []doctor.Result) {
	words := map[doctor.Level]fleet.Code{doctor.Fine: wordDoctorOK, doctor.Warn: wordDoctorWarn, doctor.Bad: wordDoctorTrouble}
	colours := map[doctor.Level]guard.Answer{doctor.Fine: guard.Allow, doctor.Warn: guard.Wait, doctor.Bad: guard.Refuse}
	var rows [][]string
	for _, r := range rs {
		name := g.say(checkNames()[r.Check], nil)
		if r.Subject != "" {
			name += " " + r.Subject
		}
		rows = append(rows, []string{g.paint(colours[r.Level], g.say(words[r.Level], nil)), name, g.reason(r.What)})
		if !r.Do.IsZero() {
			rows = append(rows, []string{"", "", g.say(wordDoctorDo, fleet.Values{"do": fleet.Nested(r.Do)})})
		}
	}
	g.table(0, rows)
	v := fleet.Values{"bad": fleet.Number(float64(doctor.Count(rs, doctor.Bad)))}
	if n := doctor.Count(rs, doctor.Warn); n > 0 {
		v["warn"] = fleet.Number(float64(n))
	}
	if doctor.Healthy(rs) {
		g.line(wordDoctorFine, v)
		return
	}
	g.line(wordDoctorBad, v)
}

// The names of the checks.
const (
	nameClock   fleet.Code = "doctor.check.clock"
	nameZone    fleet.Code = "doctor.check.zone"
	nameState   fleet.Code = "doctor.check.state"
	nameDisk    fleet.Code = "doctor.check.disk"
	nameDaemon  fleet.Code = "doctor.check.daemon"
	nameAccount fleet.Code = "doctor.check.account"
	nameSignal  fleet.Code = "doctor.check.signal"
	nameChannel fleet.Code = "doctor.check.channel"
	namePing    fleet.Code = "doctor.check.ping"
	nameBox     fleet.Code = "doctor.check.box"
)

func checkNames() map[string]fleet.Code {
	return map[string]fleet.Code{
		doctor.CheckClock: nameClock, doctor.CheckZone: nameZone, doctor.CheckState: nameState, doctor.CheckDisk: nameDisk,
		doctor.CheckDaemon: nameDaemon, doctor.CheckAccount: nameAccount, doctor.CheckSignal: nameSignal,
		doctor.CheckChannel: nameChannel, doctor.CheckPing: namePing, doctor.CheckBox: nameBox,
	}
}
