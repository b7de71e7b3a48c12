package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/doctor"
	"curfew/notify"
	"curfew/providers"
	"curfew/signals"
	"curfew/signals/ssh"
)

// looksAtOnce is how many instances are looked at, side by side.
const looksAtOnce = 20

func (x *examination) askAccounts(ctx context.Context) (out []doctor.Result) {
	_ = x.p.progress(ctx, wordDoctorAccounts, func() error { // the answers hold the errors
		for _, entry := range x.cfg.Accounts {
			out = append(out, doctor.AccountResults(x.account(ctx, entry))...)
		}
		return nil
	})
	return out
}

// account asks one account who it is, and reads its lists and its wallet.
func (x *examination) account(ctx context.Context, entry config.Account) doctor.Account {
	d := doctor.Account{Name: entry.Name, Provider: entry.Provider, Limit: entry.PerDay, Used: x.requests[entry.Name]}
	var places []string
	for _, s := range entry.Credential {
		places = append(places, s.Place())
	}
	slices.Sort(places)
	d.Credential = strings.Join(places, ", ")
	a, _, err := x.open.Account(entry, nil)
	if err != nil {
		d.Err = err
		return d
	}
	d.Opened = true
	a = a.With(providers.ReadOnlyAccount(), providers.Stamp(entry.Name))
	x.accounts[entry.Name] = a
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if _, err := a.Whoami(ctx); err != nil {
		d.Err, d.Step = err, doctor.StepIdentity
		return d
	}
	for _, s := range a.Scopes {
		is, err := a.Instances(ctx, s)
		if err != nil {
			d.Err, d.Step = err, doctor.StepList
			return d
		}
		d.Instances += len(is)
		for _, i := range is {
			if i.State == fleet.StateRunning {
				x.running = append(x.running, i)
			}
		}
	}
	if d.Instances == 0 && a.Kind.EmptyNote != "" {
		d.Note = fleet.Because(a.Kind.EmptyNote, nil)
	}
	if a.Balance != nil {
		w, err := a.Balance(ctx)
		if err != nil {
			d.Err, d.Step = err, doctor.StepWallet
			return d
		}
		d.Left = left(w)
	}
	return d
}

// looks takes one look at what runs, by every source.
func (x *examination) looks(ctx context.Context) (out []doctor.Result) {
	_ = x.p.progress(ctx, wordDoctorLooks, func() error { // the results hold the errors
		for _, entry := range x.cfg.Signals {
			out = append(out, x.look(ctx, entry)...)
		}
		return nil
	})
	return out
}

func (x *examination) look(ctx context.Context, entry config.Signal) []doctor.Result {
	name := entry.Source()
	source, err := x.open.Source(entry, ssh.Options{
		Now: x.p.now, Zone: x.cfg.Timezone, Parallel: looksAtOnce, Access: x.access,
		Ask: func(fleet.Instance) signals.Ask { return signals.Ask{} },
	})
	if err != nil {
		return []doctor.Result{doctor.BadSource(name, err)}
	}
	defer func() { _ = source.Close() }()
	var is []fleet.Instance
	for _, i := range x.running {
		if source.Applies(i) {
			is = append(is, i)
		}
	}
	if len(is) == 0 {
		return []doctor.Result{doctor.Nobody(name)}
	}
	more := max(0, len(is)-looksAtOnce)
	is = is[:len(is)-more]
	ctx, cancel := context.WithTimeout(ctx, max(tryTimeout, entry.Timeout+time.Second))
	defer cancel()
	seen, err := source.Look(ctx, is)
	if err != nil {
		return []doctor.Result{doctor.BadSource(name, err)}
	}
	var out []doctor.Result
	for _, i := range is {
		looked := seen[i.Ref]
		if len(looked) == 0 {
			out = append(out, doctor.NoLook(name, i.DisplayName()))
		}
		for _, e := range looked {
			out = append(out, doctor.Look(name, i.DisplayName(), signals.Judge(e, entry.Limits, nil)))
		}
	}
	if more > 0 {
		out = append(out, doctor.More(name, more))
	}
	return out
}

// access tells how to log in, as the account does.
func (x *examination) access(ctx context.Context, i fleet.Instance) (fleet.Access, error) {
	a, ok := x.accounts[i.Ref.Account]
	if !ok || a.Access == nil {
		return fleet.Access{}, &fleet.Error{Op: "access " + i.Ref.ID, Kind: fleet.Unsupported}
	}
	return a.Access(ctx, i)
}

func (x *examination) channels(ctx context.Context) []doctor.Result {
	if len(x.cfg.Notify.Channels) == 0 {
		return []doctor.Result{doctor.NoChannel()}
	}
	var out []doctor.Result
	for _, entry := range x.cfg.Notify.Channels {
		open, err := x.open.Channel(entry, x.p.render.Language(), x.cfg.Timezone)
		switch {
		case err != nil:
			out = append(out, doctor.BadChannel(entry.Name, err))
		case !x.send:
			out = append(out, doctor.Channel(entry.Name, open.Kind.PerMinute, open.Kind.PerDay))
		default:
			v := x.p.sendTest(ctx, open, eventTest, wordDoctorSends)
			out = append(out, doctor.Sent(entry.Name, v.Kind == notify.VerdictOK, v.Code, v.Detail))
		}
	}
	return out
}

// sendTest sends a sample of an event over a channel.
func (p *program) sendTest(ctx context.Context, open notify.OpenChannel, event string, what fleet.Code) (v notify.Verdict) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	now := p.now()
	m, _ := open.Render(notify.Sample(event, now), now) // templates were tried when it was opened
	m.DeliveryID = fmt.Sprintf("test-%d", now.UnixNano())
	_ = p.progress(ctx, what, func() error { // the verdict holds the error
		v = open.Channel.Send(ctx, m)
		return nil
	})
	return v
}
