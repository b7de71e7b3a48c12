package app

import (
	"context"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/observe"
	"curfew/internal/store"
	"curfew/policies"
)

// walletMemory is how far back policies see what a wallet held.
const walletMemory = 36 * time.Hour

// keepWallet remembers what a wallet held. It is no ground for anything, so a state
// that cannot be written is said elsewhere.
func (a *App) keepWallet(ctx context.Context, acc *account, identity string, w fleet.Wallet, at time.Time) {
	err := a.store.Update(ctx, func(tx *store.Tx) error { return tx.SaveWallet(identity, w, at) })
	if err != nil && ctx.Err() == nil {
		a.log.Warn().Err(err).Str("account", identity).Msg("what the wallet held is not remembered")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen.wallets[acc.cfg.Name] = w
	if r, ok := readingOf(w, at); ok {
		a.seen.purses[identity] = withReading(a.seen.purses[identity], r)
	}
}

// readingOf is what policies see of a wallet, both parts in one currency as the state
// keeps them, also where one is nothing of none; false: it holds two, which do not add.
func readingOf(w fleet.Wallet, at time.Time) (policies.Reading, bool) {
	r := policies.Reading{At: at, SeenAt: at, Cash: w.Cash, Vouchers: w.Vouchers}
	switch {
	case w.Vouchers.IsZero():
		r.Vouchers.Currency = w.Cash.Currency
	case w.Cash.IsZero():
		r.Cash.Currency = w.Vouchers.Currency
	}
	return r, r.Cash.Currency == r.Vouchers.Currency
}

// withReading adds what a wallet holds now. Whoever has the readings of before keeps
// them as they were.
func withReading(all []policies.Reading, r policies.Reading) []policies.Reading {
	from := 0
	for from+1 < len(all) && all[from].SeenAt.Before(r.At.Add(-walletMemory)) {
		from++
	}
	all = slices.Clone(all[from:])
	if last := len(all) - 1; last >= 0 && !r.At.Before(all[last].SeenAt) && all[last].Cash == r.Cash && all[last].Vouchers == r.Vouchers {
		all[last].SeenAt = r.SeenAt
		return all
	}
	return append(all, r)
}

// recallWallets reads what wallets held before the daemon was started.
func (a *App) recallWallets(ctx context.Context) error {
	all, err := a.store.Wallets(ctx, a.clock.Now().Add(-walletMemory))
	if err != nil {
		return err
	}
	for identity, readings := range all {
		for _, w := range readings {
			a.seen.purses[identity] = append(a.seen.purses[identity], policies.Reading{At: w.At, SeenAt: w.SeenAt, Cash: w.Cash, Vouchers: w.Vouchers})
		}
	}
	return nil
}

// accounts gives what is known of the money of every account.
func (a *App) accounts(rt *runtime, all observe.Snapshot) map[string]policies.Account {
	burn := all.Burn()
	out := make(map[string]policies.Account, len(rt.accounts))
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, acc := range rt.accounts {
		p, ok := acc.opened()
		if !ok {
			continue
		}
		out[p.Identity] = policies.Account{
			Ref:  fleet.Ref{Account: p.Identity, Kind: fleet.KindAccount, ID: acc.cfg.Name},
			Name: acc.cfg.Name, Provider: acc.cfg.Provider, Mode: milder(rt.cfg.Mode, acc.cfg.Mode),
			Wallet: a.seen.purses[p.Identity], Tells: p.Balance != nil, Burn: burn[p.Identity],
			AtZero: fleet.Reason{Code: p.Kind.AtZero},
		}
	}
	return out
}

// withMoney adds to an account what is known of its money, and gives the last reading
// of its wallet.
func withMoney(entry *ctl.Account, of policies.Account) (policies.Reading, bool) {
	entry.Burn, entry.Unpriced = of.Burn.PerHour, of.Burn.Unpriced
	if runway, ends := of.Runway(); ends {
		entry.Runway = &runway
	}
	if len(of.Wallet) == 0 {
		return policies.Reading{}, false
	}
	last := of.Wallet[len(of.Wallet)-1]
	entry.WalletAt = last.SeenAt
	return last, true
}

// aboutMoney asks every policy about the accounts, once.
func aboutMoney(rt *runtime, v policies.View, d *desk) (findings []fleet.Finding, blocks []fleet.Block) {
	for identity := range d.accounts {
		v.Things.Accounts = append(v.Things.Accounts, identity)
	}
	slices.Sort(v.Things.Accounts)
	for _, p := range rt.cfg.Policies {
		v.Due, v.Opens = p.Window.At(d.now)
		r := p.Policy.Decide(v)
		findings = append(findings, r.Findings...)
		blocks = append(blocks, r.Blocks...)
	}
	return findings, blocks
}
