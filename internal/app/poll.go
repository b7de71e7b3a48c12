package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/internal/observe"
	"curfew/internal/store"
	"curfew/providers"
)

// poll reads an account's lists for as long as its configuration holds.
func (a *App) poll(ctx context.Context, rt *runtime, acc *account) {
	failures := 0
	for {
		err := a.pollOnce(ctx, acc)
		if ctx.Err() != nil {
			return
		}
		pause := acc.cfg.Poll
		if err != nil {
			failures++
			a.log.Warn().Err(err).Str("account", acc.cfg.Name).Str("kind", string(fleet.KindOf(err))).Msg("poll failed, will be tried again")
			pause = observe.Backoff(pause, failures, err)
		} else {
			failures = 0
		}
		nudge(a.kick)
		a.lookSoon(rt)
		if a.clock.Sleep(ctx, pause) != nil {
			return
		}
	}
}

func (a *App) pollOnce(ctx context.Context, acc *account) error {
	if !acc.isIdentified() {
		err := a.identify(ctx, acc)
		acc.noteIdentity(err, a.clock.Now())
		if err != nil {
			return err
		}
		a.inv.Limit(a.runtime().covers)
	}
	p, _ := acc.opened()
	if err := a.settle(ctx, acc, p); err != nil {
		return err
	}
	// A region that cannot be read hides no other; a platform that asks for peace
	// gets it.
	var errs []error
	for _, s := range p.Scopes {
		err := a.inv.Poll(ctx, p, s.Region)
		if kind := fleet.KindOf(err); kind == fleet.RateLimited || kind == fleet.Banned || ctx.Err() != nil {
			return errors.Join(append([]error{err}, errs...)...)
		}
		errs = append(errs, err)
	}
	if err := a.readMissing(ctx, acc, p); err != nil {
		return errors.Join(append(errs, err)...)
	}
	a.readWallet(ctx, acc, p)
	a.readBill(ctx, acc, p)
	return errors.Join(append(errs, a.readResources(ctx, acc, p))...)
}

// ResourcesEvery is how often everything billed beside instances is listed; it
// changes slowly, and every request counts.
const ResourcesEvery = 10 * time.Minute

// readResources lists what is billed beside instances. A kind that cannot be read is
// told by itself and is no failure of the account, unless the platform asks for
// peace.
func (a *App) readResources(ctx context.Context, acc *account, p providers.Account) error {
	now := a.clock.Now()
	if now.Sub(acc.resourcesAt).Abs() < ResourcesEvery {
		return nil
	}
	acc.resourcesAt = now
	for _, kind := range fleet.ResourceKinds() {
		if p.Resources[kind] == nil {
			continue
		}
		for _, s := range p.Scopes {
			err := a.inv.PollResources(ctx, p, s.Region, kind)
			if k := fleet.KindOf(err); k == fleet.RateLimited || k == fleet.Banned || ctx.Err() != nil {
				return err
			}
			if err != nil {
				a.log.Warn().Err(err).Str("account", acc.cfg.Name).Str("list", string(kind)+"s").Msg("list cannot be read, will be tried again")
			}
		}
	}
	return nil
}

// missingAtOnce is how many of the things that a list lacks are asked about after
// each poll: one list that came back short is no reason to ask about hundreds.
const missingAtOnce = 5

// readMissing asks the platform about things that the newest lists lack, those
// first that were not asked about for longest: absent from a list is not gone. One
// that cannot be read is no failure of the account, whose lists were read.
func (a *App) readMissing(ctx context.Context, acc *account, p providers.Account) error {
	missing := a.inv.Missing(p.Identity, a.clock.Now().Add(-p.Kind.SettleTime))
	asked := make(map[fleet.Ref]time.Time, len(missing))
	for _, t := range missing {
		asked[t.Instance.Ref] = acc.askedAbout[t.Instance.Ref]
	}
	acc.askedAbout = asked // what is back is forgotten
	slices.SortStableFunc(missing, func(a, b store.Thing) int { return asked[a.Instance.Ref].Compare(asked[b.Instance.Ref]) })
	for _, t := range missing[:min(len(missing), missingAtOnce)] {
		ref := t.Instance.Ref
		asked[ref] = a.clock.Now()
		_, _, err := a.inv.Read(ctx, p, ref)
		switch kind := fleet.KindOf(err); {
		case err == nil || kind == fleet.NotFound:
		case kind == fleet.RateLimited || kind == fleet.Banned || kind == fleet.Unauthorized || ctx.Err() != nil:
			return err
		default:
			a.log.Warn().Err(err).Str("instance", ref.String()).Msg("the list lacks it and it cannot be read by itself, will be tried again")
		}
	}
	return nil
}

// WalletEvery is how often a wallet is read; it changes slowly, and every request
// counts.
const WalletEvery = 5 * time.Minute

// walletAgain is the pause after a read that failed for the moment: what was read last
// must not grow too old for that.
const walletAgain = 2 * time.Minute

// readWallet reads what the account has left. A wallet that cannot be read leaves
// the last one: it holds back nothing.
func (a *App) readWallet(ctx context.Context, acc *account, p providers.Account) {
	now := a.clock.Now()
	if p.Balance == nil || now.Sub(acc.walletAt).Abs() < WalletEvery {
		return
	}
	acc.walletAt = now
	w, err := p.Balance(ctx)
	if err != nil {
		if fleet.KindOf(err) == fleet.Transient {
			acc.walletAt = now.Add(walletAgain - WalletEvery)
		}
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Str("account", acc.cfg.Name).Msg("wallet cannot be read, will be tried again")
		}
		return
	}
	a.keepWallet(ctx, acc, p.Identity, w, now)
}

// settle reads, before the first list of an account is used, every instance
// whose write was under way when the daemon last ended.
func (a *App) settle(ctx context.Context, acc *account, p providers.Account) error {
	acc.mu.Lock()
	settled := acc.settled
	acc.mu.Unlock()
	if settled {
		return nil
	}
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return err
	}
	for _, i := range open {
		if i.Ref.Account != p.Identity || i.State == fleet.IntentPending || i.Fence == a.store.Fence() {
			continue
		}
		if _, err := a.exec.Step(ctx, i.ID); err != nil {
			return err
		}
	}
	acc.mu.Lock()
	defer acc.mu.Unlock()
	acc.settled = true
	return nil
}

// read reads one thing for the executor, from the budget of acts.
func (a *App) read(ctx context.Context, p providers.Account, ref fleet.Ref) (fleet.Instance, bool, error) {
	ctx = httpx.WithClass(ctx, httpx.Act)
	if ref.Kind == fleet.KindInstance {
		return a.inv.Read(ctx, p, ref)
	}
	r, gone, err := a.inv.ReadResource(ctx, p, ref, listStaysGood)
	return r.Subject(), gone, err
}

// resource gives a thing that is no instance as it was last read.
func (a *App) resource(ref fleet.Ref) (fleet.Resource, bool) {
	r, ok := a.inv.Resource(ref)
	return r.Resource, ok
}

// listStaysGood is how long a list serves several acts that are due together.
const listStaysGood = 2 * time.Second

// access tells the ssh source how to log in.
func (a *App) access(ctx context.Context, i fleet.Instance) (fleet.Access, error) {
	p, ok := a.account(i.Ref.Account)
	if !ok || p.Access == nil {
		return fleet.Access{}, &fleet.Error{Op: "access " + i.Ref.ID, Kind: fleet.Unsupported}
	}
	return p.Access(ctx, i)
}
