package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/httpx"
	"curfew/internal/observe"
	"curfew/internal/store"
	"curfew/signals/ping"
)

// pingSecretKey is where the secret is kept of which the keys of pings are made.
const pingSecretKey = "ping-secret"

// pingSecret gives the secret of the keys, drawn once and kept with the state.
func (a *App) pingSecret(ctx context.Context) (string, error) {
	secret, err := a.store.Meta(ctx, pingSecretKey)
	if err != nil || secret != "" {
		return secret, err
	}
	err = a.store.Update(ctx, func(tx *store.Tx) error {
		if secret, err = tx.Meta(pingSecretKey); err != nil || secret != "" {
			return err
		}
		secret = rand.Text()
		return tx.SetMeta(pingSecretKey, secret)
	})
	return secret, err
}

// PingKey gives the key of an instance's pings.
func (a *App) PingKey(ctx context.Context, name string) (ctl.PingKey, error) {
	i, err := a.findInstance(name)
	if err != nil {
		return ctl.PingKey{}, err
	}
	secret, err := a.pingSecret(ctx)
	if err != nil {
		return ctl.PingKey{}, fmt.Errorf("ping key of %s: %w", i.Ref, err)
	}
	return ctl.PingKey{Ref: i.Ref, Name: i.DisplayName(), Key: ping.Key(secret, i.Ref)}, nil
}

// pingHandler answers pings.
func (a *App) pingHandler(ctx context.Context) (http.Handler, error) {
	secret, err := a.pingSecret(ctx)
	if err != nil {
		return nil, fmt.Errorf("ping: read the secret of its keys: %w", err)
	}
	keys := &pingKeys{secret: secret, refs: map[string]fleet.Ref{}, made: map[fleet.Ref]bool{}}
	find := func(key string) (fleet.Ref, bool) { return keys.find(key, a.inv.Snapshot()) }
	return ping.NewHandler(ping.Options{Find: find, Record: a.recordPing, Now: a.clock.Now}), nil
}

// pingKeys remembers which key is whose, so that none is made twice.
type pingKeys struct {
	secret string
	mu     sync.Mutex
	refs   map[string]fleet.Ref
	made   map[fleet.Ref]bool
}

// find gives whose key it is, if it is that of an instance that is there.
func (k *pingKeys) find(key string, all observe.Snapshot) (fleet.Ref, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ref, ok := k.refs[key]; ok {
		return ref, all.Has(ref)
	}
	if count, _ := all.Size(); len(k.made) > 2*count { // most of them are gone
		clear(k.refs)
		clear(k.made)
	}
	for ref := range all.Instances() {
		if !k.made[ref] {
			k.made[ref] = true
			k.refs[ping.Key(k.secret, ref)] = ref
		}
	}
	ref, ok := k.refs[key]
	return ref, ok
}

// errNotUpYet is the answer to a ping of an instance that is not known to be up:
// what runs in it sends the ping again.
var errNotUpYet = errors.New("the platform does not show it up yet")

// recordPing makes a ping count: the run it tells of is in the state before it is
// acknowledged. The end of a run, or text, of an instance that does not run tells
// of no work in it (somebody else sent it, or it comes late): it is taken and left
// alone. A start is not acknowledged there: what the platform shows may be old.
func (a *App) recordPing(ctx context.Context, ref fleet.Ref, p ping.Ping) error {
	log := a.log.With().Str("instance", ref.String()).Str("ping", string(p.Kind)).Logger()
	i, err := a.pingedBoot(ctx, ref, p)
	switch {
	case err != nil:
		log.Warn().Err(err).Msg("a ping could not be taken, its sender is asked to try again")
		return err
	case !i.State.Up() && i.State != fleet.StateUnknown || i.Boot == "":
		log.Info().Str("state", i.State.String()).Msg("a ping of an instance that does not run, left alone")
		return nil
	}
	a.folding.Lock()
	defer a.folding.Unlock()
	_, before := a.evidence(ref)
	runs, changed := ping.Fold(ref, i.Boot, before, p)
	if len(changed) == 0 {
		return nil
	}
	if err := a.store.Update(ctx, func(tx *store.Tx) error { return tx.SaveRuns(changed) }); err != nil {
		a.databaseIs(err)
		log.Warn().Err(err).Msg("a ping could not be recorded, its sender is asked to try again")
		return err
	}
	a.mu.Lock()
	a.seen.runs[ref] = runs
	a.mu.Unlock()
	last := changed[len(changed)-1]
	log.Info().Str("run", last.ID).Bool("open", last.Open()).Int("exit", p.Exit).Msg("ping")
	nudge(a.kick)
	return nil
}

// pingSightLasts is how old the sight of an instance may be for a ping to be of
// the boot it shows: it may have been started anew since.
const pingSightLasts = 20 * time.Second

// pingReadTimeout bounds the read that a ping waits for.
const pingReadTimeout = 4 * time.Second

// pingedBoot gives the instance in the boot in which the ping came. Where a run
// would begin on the word of an old sight the platform is asked: a run that is
// taken for one of the boot before would be over, and its instance idle.
func (a *App) pingedBoot(ctx context.Context, ref fleet.Ref, p ping.Ping) (fleet.Instance, error) {
	t, ok := a.inv.Get(ref)
	if !ok {
		return fleet.Instance{}, nil
	}
	i := t.Instance
	shown := i.State == fleet.StateRunning && i.Boot != ""
	if shown && (p.Kind == ping.Log || p.At.Sub(t.SeenAt).Abs() <= pingSightLasts || a.ends(i, p)) {
		return i, nil
	}
	if acc, ok := a.account(ref.Account); ok {
		ctx, cancel := context.WithTimeout(httpx.WithClass(ctx, httpx.Observe), pingReadTimeout)
		defer cancel()
		now, gone, err := a.inv.Read(ctx, acc, ref)
		switch {
		case err == nil && !gone:
			i = now
		case gone:
			return fleet.Instance{}, nil
		case !shown:
			return i, fmt.Errorf("read whether it runs: %w", err)
		}
	}
	switch {
	case i.State == fleet.StateRunning && i.Boot != "", i.State.Gone():
		return i, nil
	case i.State.Up(), i.State == fleet.StateUnknown && i.Boot == "", p.Kind == ping.Start && i.State != fleet.StateUnknown:
		return i, errNotUpYet
	}
	return i, nil
}

// ends reports whether the ping ends a run that is known to be open.
func (a *App) ends(i fleet.Instance, p ping.Ping) bool {
	_, runs := a.evidence(i.Ref)
	_, changed := ping.Fold(i.Ref, i.Boot, runs, p)
	return p.Kind == ping.End && len(changed) == 1 && !changed[0].StartedAt.Equal(p.At)
}
