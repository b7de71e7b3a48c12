package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/httpx"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/providers"
	"curfew/signals/ssh"
)

// tryTimeout bounds one request of a command that only tries.
const tryTimeout = 20 * time.Second

// secrets reads what a credential names.
func (p *program) secrets(in map[string]config.Secret) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for _, key := range slices.Sorted(maps.Keys(in)) {
		v, err := in[key].Read(p.lookupEnv, secretFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out[key] = v
	}
	return out, nil
}

// account opens an account for reading only. It keeps no state: its requests are
// few, and not counted against the daemon's budget.
func (p *program) account(entry config.Account, world func(string) (any, error)) (providers.Account, error) {
	kinds := registry().Providers
	n := slices.IndexFunc(kinds, func(k providers.Kind) bool { return k.Name == entry.Provider })
	if n < 0 {
		return providers.Account{}, fmt.Errorf("there is no provider %q", entry.Provider)
	}
	kind := kinds[n]
	credential, err := p.secrets(entry.Credential)
	if err != nil {
		return providers.Account{}, err
	}
	o := providers.Options{
		Account: entry.Name, BaseURL: entry.BaseURL, Credential: credential, Regions: entry.Regions, Prices: entry.Prices,
		HTTP: httpx.New(httpx.Options{
			Timeout: tryTimeout, RetryMax: 1, UserAgent: "curfew/" + version, Proxy: http.ProxyFromEnvironment, Logger: zerolog.Nop(),
			Secrets: func() []string { return slices.Collect(maps.Values(credential)) },
		}),
	}
	if o.BaseURL == "" {
		o.BaseURL = kind.DefaultURL
	}
	if entry.World != "" {
		if o.World, err = world(entry.World); err != nil {
			return providers.Account{}, err
		}
	}
	open, err := kind.Open(o)
	if err != nil {
		return providers.Account{}, err
	}
	return providers.Collect(entry.Name, kind, open).With(providers.Timeout(tryTimeout, tryTimeout), providers.ReadOnlyAccount()), nil
}

// signal opens a source of signals, and closes it.
func (p *program) signal(entry config.Signal) error {
	if entry.Type != "ssh" {
		return nil
	}
	var key []byte
	if !entry.Key.IsZero() {
		s, err := entry.Key.Read(p.lookupEnv, secretFile)
		if err != nil {
			return fmt.Errorf("key: %w", err)
		}
		key = []byte(s)
	}
	source, err := ssh.New(ssh.Options{
		Key: key, Now: p.now,
		Access: func(context.Context, fleet.Instance) (fleet.Access, error) {
			return fleet.Access{}, errors.New("nobody is logged in to here")
		},
	})
	if err != nil {
		return err
	}
	return source.Close()
}

// channel opens a channel and gives what renders its messages.
func (p *program) channel(entry config.Channel) (notify.Channel, *text.Renderer, error) {
	kinds := registry().Channels
	n := slices.IndexFunc(kinds, func(k notify.Kind) bool { return k.Name == entry.Type })
	if n < 0 {
		return nil, nil, fmt.Errorf("there is no channel type %q", entry.Type)
	}
	credential, err := p.secrets(entry.Credential)
	if err != nil {
		return nil, nil, err
	}
	lang := p.render.Language()
	if entry.Language != "" {
		lang = entry.Language
	}
	render, err := text.New(lang, p.cfg.Timezone)
	if err != nil {
		return nil, nil, err
	}
	o := notify.Options{
		Name: entry.Name, BaseURL: entry.BaseURL, Credential: credential, Settings: entry.Settings, Out: p.stdout,
		HTTP: &http.Client{
			Timeout:       tryTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if o.BaseURL == "" {
		o.BaseURL = kinds[n].DefaultURL
	}
	open, err := kinds[n].Open(o)
	return open, render, err
}
