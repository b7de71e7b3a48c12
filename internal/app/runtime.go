package app

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/httpx"
	"curfew/internal/observe"
	"curfew/internal/sshx"
	"curfew/internal/store"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/policies"
	"curfew/providers"
	"curfew/signals"
	sshsignal "curfew/signals/ssh"
)

// runtime is one configuration, opened: it is built whole and then swapped in.
type runtime struct {
	cfg      *config.Config
	accounts []*account
	sources  []*source
	looks    []string // the names of all sources whose word is required
	sender   *notify.Sender
	channels map[string]notify.OpenChannel
	order    []string // channel names as in the file
	render   *text.Renderer
	exporter Exporter
	token    string // of the page; empty: none is asked for
}

// account is one entry of the configuration and, once it is known who it is,
// the opened account.
type account struct {
	cfg  config.Account
	raw  providers.Account
	hash string // keyed hash of the credential

	mu      sync.Mutex
	open    *providers.Account
	settled bool // writes of an earlier life were read

	identified bool                // the platform was asked who it is
	stranger   policies.ScopeState // since when and why it is not known who it is

	// Of its poll loop alone:
	walletAt time.Time // when the wallet was last asked for
	// billAt is when the bill was last read, and billTried when that was last tried.
	billAt, billTried time.Time
	// resourcesAt is when what is billed beside instances was last listed.
	resourcesAt time.Time
	askedAbout  map[fleet.Ref]time.Time // when each thing that the lists lack was last asked about
}

// opened gives the account once its identity is known.
func (c *account) opened() (providers.Account, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return providers.Account{}, false
	}
	return *c.open, true
}

// source is one configured signal source.
type source struct {
	cfg     config.Signal
	turn    chan struct{} // full while it looks, which it does from one goroutine at a time
	signals signals.Source
	wake    chan struct{} // something is running that was never looked at
}

func (rt *runtime) close() error {
	if rt == nil {
		return nil
	}
	var errs []error
	for _, s := range rt.sources {
		s.turn <- struct{}{}
		errs = append(errs, s.signals.Close())
		<-s.turn
	}
	for _, acc := range rt.accounts {
		if acc.raw.Close != nil {
			errs = append(errs, acc.raw.Close())
		}
	}
	return errors.Join(errs...)
}

// build opens a configuration. It sends nothing to any provider: who an account
// is, is found out at its first poll.
func (a *App) build(ctx context.Context, cfg *config.Config) (*runtime, error) {
	rt := &runtime{cfg: cfg, channels: map[string]notify.OpenChannel{}}
	lang := cfg.Language
	if lang == "" {
		lang = a.o.Language
	}
	var err error
	if rt.render, err = text.New(lang, cfg.Timezone); err != nil {
		return nil, err
	}
	opener := &Opener{
		Registry: a.o.Registry, LookupEnv: a.o.LookupEnv, ReadFile: a.o.ReadFile, World: a.o.World,
		Version: a.o.Version, Log: a.log, Out: a.o.Out, Now: a.clock.Now,
	}
	hashes := map[string]string{}
	for _, entry := range cfg.Accounts {
		acc, err := a.openAccount(ctx, cfg, entry, opener)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", entry.Name, err)
		}
		if acc.hash != "" {
			if twin, ok := hashes[entry.Provider+acc.hash]; ok {
				return nil, fmt.Errorf("accounts %s and %s are the same account: they have one credential; keep one of them", twin, entry.Name)
			}
			hashes[entry.Provider+acc.hash] = entry.Name
		}
		rt.accounts = append(rt.accounts, acc)
	}
	if err := a.recognise(ctx, rt.accounts); err != nil {
		return nil, err
	}
	rt.exporter = a.o.Exporter
	if rt.exporter == nil && rt.secures() {
		if rt.exporter, err = opener.Exporter(cfg.Signals, sshsignal.Options{Access: a.access, Now: a.clock.Now, Pins: pins{a}}); err != nil {
			return nil, fmt.Errorf("log in to export: %w", err)
		}
	}
	for _, entry := range cfg.Signals {
		ask := func(i fleet.Instance) signals.Ask { return asked(cfg.Policies, i) }
		s, err := opener.Source(entry, sshsignal.Options{Access: a.access, Ask: ask, Now: a.clock.Now, Pins: pins{a}, Zone: cfg.Timezone})
		if err != nil {
			return nil, fmt.Errorf("signal %s: %w", entry.Source(), err)
		}
		rt.sources = append(rt.sources, &source{cfg: entry, signals: s, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1)})
		if signals.Required(s) {
			rt.looks = append(rt.looks, s.Name())
		}
	}
	for _, entry := range cfg.Notify.Channels {
		open, err := opener.Channel(entry, lang, cfg.Timezone)
		if err != nil {
			return nil, fmt.Errorf("channel %s: %w", entry.Name, err)
		}
		open.People = cfg.Known(entry.Type)
		if open.Actions, err = a.actions(ctx, cfg, entry, open); err != nil {
			return nil, fmt.Errorf("channel %s: buttons: %w", entry.Name, err)
		}
		rt.channels[entry.Name] = open
		rt.order = append(rt.order, entry.Name)
	}
	if rt.token, err = opener.Token(cfg.Web); err != nil {
		return nil, err
	}
	rt.sender = notify.NewSender(notify.SenderOptions{
		Outbox: a.store, Channels: rt.channels, Now: a.clock.Now, Logger: a.log,
		OnBroken: func(channel string, v notify.Verdict) { a.channelBroke(channel, v) },
	})
	return rt, nil
}

func (a *App) openAccount(ctx context.Context, cfg *config.Config, entry config.Account, opener *Opener) (*account, error) {
	limits := httpx.Limits{PerMinute: entry.PerMinute, PerDay: entry.PerDay}
	raw, credential, err := opener.Account(entry, httpx.NewBudget(limits, a.store.Counter(entry.Name), a.clock.Now))
	if err != nil {
		return nil, err
	}
	acc := &account{cfg: entry, raw: raw.With(providers.Owned(cfg.Owner))}
	if len(credential) > 0 {
		if acc.hash, err = a.credentialHash(ctx, credential); err != nil {
			return nil, err
		}
	}
	if !fleet.Enforcing(milder(cfg.Mode, entry.Mode)) || a.o.ReadOnly {
		acc.raw = acc.raw.With(providers.ReadOnlyAccount())
	}
	return acc, nil
}

// milder gives the account's mode under the file's; an account that says nothing
// has the file's.
func milder(file, account fleet.Mode) fleet.Mode {
	if account == "" {
		return file
	}
	if fleet.Enforcing(file, account) {
		return fleet.Enforce
	}
	return fleet.DryRun
}

// credentialHash is a hash of a credential under a key that is drawn once and
// kept with the state: it recognises a credential and tells nothing of it.
func (a *App) credentialHash(ctx context.Context, credential map[string]string) (string, error) {
	key, err := a.store.Meta(ctx, "credential-key")
	if err != nil {
		return "", err
	}
	if key == "" {
		key = rand.Text()
		if err := a.store.Update(ctx, func(tx *store.Tx) error { return tx.SetMeta("credential-key", key) }); err != nil {
			return "", err
		}
	}
	h := hmac.New(sha256.New, []byte(key))
	for _, name := range slices.Sorted(maps.Keys(credential)) {
		fmt.Fprintf(h, "%s=%q\n", name, credential[name])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// recognise opens the accounts of a configuration under the identities they had
// before: by the id the file gives, by the credential, and last by the name, each
// identity once. Who is not recognised is identified at the first poll.
func (a *App) recognise(ctx context.Context, accounts []*account) error {
	known, err := a.store.Accounts(ctx)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	is := []func(acc *account, k store.Account) bool{
		func(acc *account, k store.Account) bool {
			return acc.cfg.ID != "" && k.Identity == acc.raw.Kind.Name+":"+acc.cfg.ID
		},
		func(acc *account, k store.Account) bool { return acc.hash != "" && k.CredentialHash == acc.hash },
		func(acc *account, k store.Account) bool { return k.Name == acc.cfg.Name },
	}
	for _, same := range is {
		for _, acc := range accounts {
			if _, ok := acc.opened(); ok {
				continue
			}
			k, ok := find(known, func(k store.Account) bool {
				return k.Provider == acc.raw.Kind.Name && !taken[k.Identity] && same(acc, k)
			})
			if !ok {
				continue
			}
			taken[k.Identity] = true
			acc.become(k.Identity)
		}
	}
	for _, acc := range accounts {
		if _, ok := acc.opened(); !ok && acc.cfg.ID != "" {
			acc.become(acc.raw.Kind.Name + ":" + acc.cfg.ID)
		}
	}
	return nil
}

// identify makes sure, before anything of an account is read, who it is: by the
// platform's answer, or, where that tells none, by an id drawn at first sight. An
// account that was recognised by credential or name and that the platform calls by
// another id is refused: its things are not those that are remembered.
func (a *App) identify(ctx context.Context, acc *account) error {
	id, err := acc.raw.Whoami(ctx)
	if err != nil {
		return err
	}
	open, recognised := acc.opened()
	identity := acc.raw.Kind.Name + ":" + id
	switch {
	case recognised && (id == "" || acc.cfg.ID != ""):
		identity = open.Identity
	case recognised && open.Identity != identity:
		return &fleet.Error{Op: "account " + acc.cfg.Name, Kind: fleet.Unauthorized, Err: fmt.Errorf(
			"its name or credential was that of %s, and %s says that it is %s; give the new account a name of its own",
			open.Identity, acc.raw.Kind.Title, identity)}
	case id == "":
		identity = acc.raw.Kind.Name + ":" + strings.ToLower(rand.Text()[:8])
	}
	for _, other := range a.runtime().accounts {
		if p, ok := other.opened(); ok && other != acc && p.Identity == identity {
			return fmt.Errorf("accounts %s and %s are the same account of %s; keep one of them", other.cfg.Name, acc.cfg.Name, acc.raw.Kind.Title)
		}
	}
	if err := a.store.Update(ctx, func(tx *store.Tx) error {
		return tx.SaveAccount(store.Account{Identity: identity, Provider: acc.raw.Kind.Name, Name: acc.cfg.Name, CredentialHash: acc.hash})
	}); err != nil {
		return err
	}
	acc.become(identity)
	acc.mu.Lock()
	defer acc.mu.Unlock()
	acc.identified = true
	return nil
}

// noteIdentity remembers since when and why it is not known who the account is.
func (c *account) noteIdentity(err error, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.stranger = policies.ScopeState{}
		return
	}
	if c.stranger.Since.IsZero() {
		c.stranger.Since = now
	}
	c.stranger.Scope = fleet.Scope{Account: c.cfg.Name}
	c.stranger.Failing = observe.Failing(err)
}

// unknown gives the state of an account of which it is not known who it is.
func (c *account) unknown() (policies.ScopeState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stranger, !c.stranger.Failing.IsZero()
}

// inherit takes over from an earlier configuration what was found out of accounts
// that are the same by identity and credential: who they are, and that writes of
// an earlier life were read.
func (rt *runtime) inherit(old *runtime) {
	for _, acc := range rt.accounts {
		now, ok := acc.opened()
		if !ok {
			continue
		}
		was, ok := find(old.accounts, func(c *account) bool {
			p, opened := c.opened()
			return opened && p.Identity == now.Identity && c.hash == acc.hash
		})
		if !ok {
			continue
		}
		was.mu.Lock()
		identified, settled := was.identified, was.settled
		was.mu.Unlock()
		acc.mu.Lock()
		acc.identified, acc.settled = identified, settled
		acc.mu.Unlock()
	}
}

// isIdentified reports whether the platform itself was asked who the account is:
// nothing is done in one of which that is not sure.
func (c *account) isIdentified() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.identified
}

func (c *account) become(identity string) {
	open := c.raw.With(providers.Stamp(identity))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = &open
}

// asked joins what the policies that match want to know beyond the usual.
func asked(ps []config.Policy, i fleet.Instance) signals.Ask {
	var ask signals.Ask
	for _, p := range ps {
		if p.Ask == nil {
			continue
		}
		if ok, err := p.Match(i); !ok || err != nil {
			continue
		}
		one := p.Ask(i)
		ask.Files = append(ask.Files, one.Files...)
		ask.Logs = append(ask.Logs, one.Logs...)
	}
	return ask
}

// pins keeps host keys in the state.
type pins struct{ app *App }

var _ sshx.Pins = pins{}

// Pin keeps the first fingerprint of a boot and gives the one that is kept.
func (p pins) Pin(ref fleet.Ref, boot fleet.Boot, fingerprint string) (kept string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	err = p.app.store.Update(ctx, func(tx *store.Tx) error {
		kept, err = tx.Pin(ref, boot, fingerprint)
		return err
	})
	return kept, err
}

func find[T any](in []T, is func(T) bool) (T, bool) {
	if n := slices.IndexFunc(in, is); n >= 0 {
		return in[n], true
	}
	return *new(T), false
}
