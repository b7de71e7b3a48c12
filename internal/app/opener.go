package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/user"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/boxsh"
	"curfew/internal/config"
	"curfew/internal/export"
	"curfew/internal/httpx"
	"curfew/internal/sshx"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/providers"
	"curfew/providers/sim"
	"curfew/signals"
	"curfew/signals/local"
	"curfew/signals/probe"
	"curfew/signals/prometheus"
	sshsignal "curfew/signals/ssh"
)

// Opener turns entries of a configuration into accounts, sources and channels:
// the step at which secrets are read. It sends nothing.
type Opener struct {
	Registry config.Registry
	// LookupEnv and ReadFile read secrets.
	LookupEnv func(string) (string, bool)
	ReadFile  func(string) ([]byte, error)
	// World opens a simulated cloud from its world file; nil where there is none.
	World   func(path string) (any, error)
	Version string
	Log     zerolog.Logger
	Out     io.Writer        // for the console channel
	Now     func() time.Time // nil: the machine's own clock
	// Answered is told of every answer to an account or a channel, and to whose entry
	// it came; nil: nobody is.
	Answered func(entry string, resp *http.Response)

	mu      sync.Mutex
	secrets []string
	worlds  map[string]any
}

// channelTimeout bounds one message to a channel.
const channelTimeout = 10 * time.Second

// Account opens an account, and gives its credential, so that it can be
// recognised. The budget pays for its requests; nil is unlimited.
func (o *Opener) Account(entry config.Account, budget *httpx.Budget) (providers.Account, map[string]string, error) {
	kind, ok := find(o.Registry.Providers, func(k providers.Kind) bool { return k.Name == entry.Provider })
	if !ok {
		return providers.Account{}, nil, fmt.Errorf("there is no provider %q", entry.Provider)
	}
	credential, err := o.read(entry.Credential)
	if err != nil {
		return providers.Account{}, nil, err
	}
	var answered func(*http.Response)
	if o.Answered != nil {
		answered = func(resp *http.Response) { o.Answered(entry.Name, resp) }
	}
	options := providers.Options{
		Account: entry.Name, BaseURL: entry.BaseURL, Credential: credential, Regions: entry.Regions, Prices: entry.Prices,
		RouteCheck: entry.RouteCheck, Now: o.now(),
		HTTP: httpx.New(httpx.Options{
			Budget: budget, Timeout: callTimeout, RetryMax: 2, Logger: o.Log, Secrets: o.known,
			UserAgent: "curfew/" + o.Version, Proxy: http.ProxyFromEnvironment, Answered: answered,
		}),
	}
	if options.Machines, err = o.machines(entry); err != nil {
		return providers.Account{}, nil, err
	}
	if options.BaseURL == "" {
		options.BaseURL = kind.DefaultURL
	}
	if entry.World != "" {
		if options.World, err = o.world(entry.World); err != nil {
			return providers.Account{}, nil, err
		}
	}
	p, err := kind.Open(options)
	if err != nil {
		return providers.Account{}, nil, err
	}
	return providers.Collect(entry.Name, kind, p).With(providers.Timeout(callTimeout, writeTimeout)), credential, nil
}

func (o *Opener) now() func() time.Time {
	if o.Now == nil {
		return time.Now
	}
	return o.Now
}

// machines gives the machines that an entry declares, with the secrets of their
// logins. These are not the account's credential: they do not tell who it is.
func (o *Opener) machines(entry config.Account) ([]providers.Machine, error) {
	ms := slices.Clone(entry.Machines)
	for n := range ms {
		m, login := &ms[n], entry.Logins[ms[n].Name]
		if m.Here {
			continue
		}
		secrets := map[string]config.Secret{}
		for name, s := range map[string]config.Secret{"key": login.Key, "password": login.Password} {
			if !s.IsZero() {
				secrets[name] = s
			}
		}
		read, err := o.read(secrets)
		if err != nil {
			return nil, fmt.Errorf("machine %s: %w", m.Name, err)
		}
		m.Key, m.Password = read["key"], read["password"]
	}
	return ms, nil
}

// Source opens a source of signals; in gives how to log in, what to ask for, the
// clock, the pins and the zone. Accounts with a simulated world must be opened
// before it.
func (o *Opener) Source(entry config.Signal, in sshsignal.Options) (signals.Source, error) {
	switch entry.Type {
	case "ssh":
		if !entry.Key.IsZero() {
			key, err := entry.Key.Read(o.LookupEnv, o.ReadFile)
			if err != nil {
				return nil, fmt.Errorf("key: %w", err)
			}
			in.Key = []byte(key)
		}
		in.Every, in.Timeout = entry.Every, entry.Timeout
		in.Access = asUser(in.Access, entry.User)
		return sshsignal.New(in)
	case "local":
		return local.New(local.Options{
			Every: entry.Every, Timeout: entry.Timeout, Env: o.lookEnv(), Ask: in.Ask, Now: in.Now, Zone: in.Zone,
		})
	case "probe":
		return o.probe(entry, in.Now)
	case "prometheus":
		return o.prometheus(entry, in.Now)
	case "sim":
		for _, path := range slices.Sorted(maps.Keys(o.worlds)) {
			if cloud, ok := o.worlds[path].(*sim.Cloud); ok {
				look := cloud.Source(entry.Every, entry.Timeout)
				look.Now = in.Now
				look.Ask = func(i fleet.Instance) (files, logs []string) {
					ask := in.Ask(i)
					return ask.Files, ask.Logs
				}
				return look, nil
			}
		}
		return nil, errors.New("no account has a simulated world")
	}
	return nil, fmt.Errorf("there is no signal %q", entry.Type)
}

// access tells how to log in to an instance.
type access = func(ctx context.Context, i fleet.Instance) (fleet.Access, error)

// asUser logs in as somebody else where the configuration does not say it of the
// instance itself; empty changes nothing.
func asUser(told access, user string) access {
	if user == "" {
		return told
	}
	return func(ctx context.Context, i fleet.Instance) (fleet.Access, error) {
		a, err := told(ctx, i)
		if !a.Declared {
			a.User = user
		}
		return a, err
	}
}

// Exporter makes what copies data away.
func (o *Opener) Exporter(entries []config.Signal, in sshsignal.Options) (*export.Exporter, error) {
	l, err := o.login(entries, in)
	return &export.Exporter{Login: l, Now: in.Now}, err
}

// Examiner makes what examines machines.
func (o *Opener) Examiner(entries []config.Signal, in sshsignal.Options) (*accept.Examiner, error) {
	l, err := o.login(entries, in)
	return &accept.Examiner{Login: l, Now: in.Now}, err
}

// login tells how to get inside instances: as the ssh source does.
func (o *Opener) login(entries []config.Signal, in sshsignal.Options) (boxsh.Login, error) {
	l := boxsh.Login{Access: in.Access, Dialer: &sshx.Dialer{Pins: in.Pins}, Env: o.lookEnv(), Secrets: o.known}
	entry, ok := find(entries, func(s config.Signal) bool { return s.Type == "ssh" })
	if !ok {
		return l, nil
	}
	l.Access, l.Dialer.Timeout = asUser(in.Access, entry.User), entry.Timeout
	if entry.Key.IsZero() {
		return l, nil
	}
	key, err := entry.Key.Read(o.LookupEnv, o.ReadFile)
	if err == nil {
		l.Dialer.Key, err = sshx.ParseKey([]byte(key))
	}
	return l, err
}

// probe opens a source that asks a URL or a command.
func (o *Opener) probe(entry config.Signal, now func() time.Time) (signals.Source, error) {
	header, err := o.read(entry.Header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return probe.New(probe.Options{
		Name: entry.Name, Match: entry.Match, URL: entry.URL, Command: entry.Command, Every: entry.Every, Timeout: entry.Timeout,
		Required: entry.Required, Header: header, UserAgent: "curfew/" + o.Version, Env: o.lookEnv(), Secrets: o.known, Now: now,
		Transport: askTransport(entry.Timeout),
	})
}

// prometheus opens a source that asks a Prometheus.
func (o *Opener) prometheus(entry config.Signal, now func() time.Time) (signals.Source, error) {
	header, err := o.read(entry.Header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return prometheus.New(prometheus.Options{
		Name: entry.Name, Match: entry.Match, URL: entry.Server, Query: entry.Query, Label: entry.Label, BusyAbove: entry.BusyOver,
		Every: entry.Every, Timeout: entry.Timeout, Required: entry.Required,
		Header: header, UserAgent: "curfew/" + o.Version, Secrets: o.known, Now: now, Transport: askTransport(entry.Timeout),
	})
}

// askTransport carries what sources ask that do not look inside.
func askTransport(timeout time.Duration) http.RoundTripper {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: timeout, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// lookEnv is the environment of what is run on this machine to look: where its
// programs are, and whose files it reads.
func (o *Opener) lookEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME"} {
		if v, ok := o.LookupEnv(name); ok && v != "" {
			env = append(env, name+"="+v)
		} else if u, err := user.Current(); name == "HOME" && err == nil && u.HomeDir != "" {
			env = append(env, "HOME="+u.HomeDir) // a service manager may set none
		}
	}
	return env
}

// Channel opens a channel, with what renders its messages; lang is used where the
// entry says none.
func (o *Opener) Channel(entry config.Channel, lang text.Language, zone *time.Location) (notify.OpenChannel, error) {
	kind, ok := find(o.Registry.Channels, func(k notify.Kind) bool { return k.Name == entry.Type })
	if !ok {
		return notify.OpenChannel{}, fmt.Errorf("there is no channel type %q", entry.Type)
	}
	credential, err := o.read(entry.Credential)
	if err != nil {
		return notify.OpenChannel{}, err
	}
	if entry.Language != "" {
		lang = entry.Language
	}
	render, err := text.New(lang, zone)
	if err != nil {
		return notify.OpenChannel{}, err
	}
	var templates *notify.Templates
	if entry.Templates != "" {
		if templates, err = Templates(entry.Templates, o.now()().In(zone)); err != nil {
			return notify.OpenChannel{}, err
		}
	}
	base := entry.BaseURL
	if base == "" {
		base = kind.DefaultURL
	}
	proxy, err := o.proxy(entry, kind)
	if err != nil {
		return notify.OpenChannel{}, fmt.Errorf("proxy: %w", err)
	}
	ch, err := kind.Open(notify.Options{
		Name: entry.Name, BaseURL: base, Credential: credential, Settings: entry.Settings, Out: o.Out, Now: o.now(), Proxy: proxy,
		HTTP: &http.Client{
			Timeout:       channelTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     o.heard(entry.Name, proxy),
		},
	})
	return notify.OpenChannel{Channel: ch, Kind: kind.Within(entry.Quota), Renderer: render, Templates: templates}, err
}

// Token reads what must be shown for the page; empty: nothing need be.
func (o *Opener) Token(entry config.Web) (string, error) {
	if entry.Token.IsZero() {
		return "", nil
	}
	read, err := o.read(map[string]config.Secret{"web.token": entry.Token})
	return read["web.token"], err
}

// read reads what a credential names, and remembers it, so that transports can
// take it out of errors and logs.
func (o *Opener) read(in map[string]config.Secret) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for _, key := range slices.Sorted(maps.Keys(in)) {
		v, err := in[key].Read(o.LookupEnv, o.ReadFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out[key] = v
		o.mu.Lock()
		o.secrets = append(o.secrets, v)
		o.mu.Unlock()
	}
	return out, nil
}

func (o *Opener) known() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.secrets)
}

// world opens each simulated cloud once.
func (o *Opener) world(path string) (any, error) {
	if w, ok := o.worlds[path]; ok {
		return w, nil
	}
	if o.World == nil {
		return nil, errors.New("a world is for the simulated cloud only")
	}
	w, err := o.World(path)
	if err != nil {
		return nil, err
	}
	if o.worlds == nil {
		o.worlds = map[string]any{}
	}
	o.worlds[path] = w
	return w, nil
}
