package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/setup"
	"curfew/providers"
)

// guardAccounts asks for accounts, and what to guard in them.
func (i *initializer) guardAccounts(ctx context.Context) error {
	i.plan.Zone = i.zone("")
	for {
		kind, err := i.whichProvider(ctx)
		if err != nil {
			return err
		}
		if len(kind.Credentials) == 0 { // this machine
			return i.guardBox(ctx)
		}
		added, err := i.addAccount(ctx, kind)
		if err != nil {
			return err
		}
		if !added {
			continue
		}
		def := setup.No
		if slices.ContainsFunc(registry().Providers, i.waits) {
			def = setup.Yes
		}
		more, err := i.talk.confirm(ctx, fleet.Because(wordAnother, nil), def)
		if err != nil {
			return err
		}
		if !more {
			return i.whichInstances(ctx)
		}
	}
}

// waits reports whether the environment holds the credential of a platform that
// has no account in the plan yet.
func (i *initializer) waits(k providers.Kind) bool {
	has := slices.ContainsFunc(i.plan.Accounts, func(a setup.Account) bool { return a.Provider == k.Name })
	return setup.Offered(k) && !has && setup.EnvNames(k.Name, k.Credentials, i.lookupEnv) != nil
}

func (i *initializer) whichProvider(ctx context.Context) (providers.Kind, error) {
	q := setup.Question{Ask: fleet.Because(wordWhichProvider, nil)}
	var kinds []providers.Kind
	for _, k := range registry().Providers {
		// The machine is guarded alone, or not at all.
		if !setup.Offered(k) || len(k.Credentials) == 0 && len(i.plan.Accounts) > 0 {
			continue
		}
		o := setup.Option{Name: k.Name, Text: k.Title}
		if len(k.Credentials) == 0 {
			o.Text = i.talk.say(wordThisMachine, nil)
		}
		if names := setup.EnvNames(k.Name, k.Credentials, i.lookupEnv); names != nil {
			o.Note = i.talk.say(wordInEnv, fleet.Values{"env": fleet.Text(names[k.Credentials[0]])})
		}
		if i.waits(k) && q.Default == "" {
			q.Default = k.Name
		}
		q.Options = append(q.Options, o)
		kinds = append(kinds, k)
	}
	if q.Default == "" {
		q.Default = q.Options[0].Name
	}
	answer, err := i.talk.ask(ctx, q)
	if err != nil {
		return providers.Kind{}, err
	}
	return kinds[slices.IndexFunc(kinds, func(k providers.Kind) bool { return k.Name == answer })], nil
}

// addAccount asks for an account's credential and reads the account, until it can
// be read or is kept or given up.
func (i *initializer) addAccount(ctx context.Context, kind providers.Kind) (added bool, err error) {
	a := setup.Account{Name: kind.Name, Provider: kind.Name, BaseURL: i.baseURLs[kind.Name]}
	for n := 2; i.taken(a.Name); n++ {
		a.Name = fmt.Sprintf("%s-%d", kind.Name, n)
	}
	for {
		a.Credential = nil
		for _, key := range kind.Credentials {
			s, err := i.credential(ctx, wanted{
				ask:  fleet.Because(wordCredential, credentialValues(kind.Title, kind.Name, key)),
				kind: kind.Name, key: key, file: a.Name, needed: true, used: i.used(kind.Name),
			})
			if err != nil {
				return false, err
			}
			a.Credential = append(a.Credential, s)
		}
		seen, err := i.read(ctx, a)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err == nil {
			i.shows(kind, seen)
			a.Unpriced = seen.unpriced
			i.found[a.Name] = len(seen.instances)
			i.plan.Accounts = append(i.plan.Accounts, a)
			return true, nil
		}
		i.talk.line(wordAccountBad, fleet.Values{"why": fleet.Text(i.clean(err.Error()))})
		answer, err := i.whatNow(ctx, answerRetype, answerOther, answerKeep)
		switch {
		case err != nil:
			return false, err
		case answer == answerKeep:
			i.plan.Accounts = append(i.plan.Accounts, a)
			return true, nil
		}
		i.drop(a.Credential)
		if answer == answerOther {
			return false, nil
		}
	}
}

func credentialValues(title, name, key string) fleet.Values {
	return fleet.Values{"title": fleet.Text(title), "name": fleet.Text(name), "key": fleet.Text(key)}
}

// whatNow asks what to do about something that does not work. Nobody is taken to
// have answered who did not.
func (i *initializer) whatNow(ctx context.Context, answers ...string) (string, error) {
	words := map[string]fleet.Code{answerRetype: wordRetype, answerOther: wordOther, answerKeep: wordKeep, answerNone: wordNoChannel}
	q := setup.Question{Ask: fleet.Because(wordWhatNow, nil)}
	for _, name := range answers {
		q.Options = append(q.Options, setup.Option{Name: name, Text: i.talk.say(words[name], nil)})
	}
	return i.talk.ask(ctx, q)
}

// seenAccount is what an account shows.
type seenAccount struct {
	instances []fleet.Instance
	unpriced  string // a model whose price the list did not tell
	wallet    *fleet.Wallet
}

// read opens an account that is not written yet, and lists it.
func (i *initializer) read(ctx context.Context, a setup.Account) (seen seenAccount, err error) {
	plan := i.plan
	plan.Accounts = append(slices.Clone(plan.Accounts), a)
	cfg, err := i.draft(plan)
	if err != nil {
		return seen, err
	}
	err = i.progress(ctx, wordChecking, func() error {
		seen, err = listAccount(ctx, i, cfg.Accounts[len(plan.Accounts)-1])
		return err
	})
	return seen, err
}

// pricesAsked is of how many instances at most the price is asked one by one.
const pricesAsked = 5

// listAccount opens an account for reading only.
func listAccount(ctx context.Context, i *initializer, entry config.Account) (seen seenAccount, err error) {
	a, _, err := i.trier().Account(entry, nil)
	if err != nil {
		return seen, err
	}
	a = a.With(providers.ReadOnlyAccount())
	if _, err := a.Whoami(ctx); err != nil {
		return seen, err
	}
	for _, s := range a.Scopes {
		is, err := a.Instances(ctx, s)
		if err != nil {
			return seen, err
		}
		seen.instances = append(seen.instances, is...)
	}
	seen.unpriced = unpriced(seen.instances)
	for n, in := range seen.instances {
		// Some platforms tell a price only of one instance at a time.
		if n < pricesAsked && in.State == fleet.StateRunning && !in.CostNow().Known() {
			if one, err := a.Instance(ctx, in.Ref); err == nil {
				seen.instances[n] = one
			}
		}
	}
	if a.Balance != nil {
		// A wallet that cannot be read takes nothing from the rest.
		if w, err := a.Balance(ctx); err == nil {
			seen.wallet = &w
		}
	}
	return seen, nil
}

// shows tells what is in an account.
func (i *initializer) shows(kind providers.Kind, seen seenAccount) {
	g := i.talk.page()
	v := fleet.Values{"title": fleet.Text(kind.Title), "count": fleet.Number(float64(len(seen.instances)))}
	if seen.wallet != nil {
		v["wallet"] = fleet.Text(left(*seen.wallet))
	}
	if len(seen.instances) == 0 && kind.EmptyNote != "" {
		v["note"] = fleet.Nested(fleet.Because(kind.EmptyNote, nil))
	}
	g.line(wordAccountFine, v)
	if len(seen.instances) == 0 {
		g.line(wordTryBox, nil)
		return
	}
	rows := [][]string{g.heads(columnName, columnState, columnGPU, columnPrice)}
	for _, in := range seen.instances {
		rows = append(rows, []string{in.DisplayName(), g.state(in.State), cards(in.GPU), price(in.CostNow())})
	}
	g.table(2, rows)
}

// unpriced is a model whose price the platform did not tell.
func unpriced(is []fleet.Instance) string {
	for _, in := range is {
		if in.State == fleet.StateRunning && !in.CostNow().Known() && in.GPU.Model != "" {
			return in.GPU.Model
		}
	}
	return ""
}

// used is where the credentials of a kind's accounts in the plan are.
func (i *initializer) used(kind string) []setup.Secret {
	var out []setup.Secret
	for _, a := range i.plan.Accounts {
		if a.Provider == kind {
			out = append(out, a.Credential...)
		}
	}
	return out
}

// wanted is a credential to ask for.
type wanted struct {
	ask       fleet.Reason
	kind, key string
	file      string         // what its file is called, without the key
	needed    bool           // else saying nothing is leaving it out
	used      []setup.Secret // that must not be taken again: one account has one
	same      setup.Secret   // which would do; zero: there is none
}

// credential asks where a credential is: in the environment, in a file that is
// there, or typed now. One that is left out is zero.
func (i *initializer) credential(ctx context.Context, w wanted) (setup.Secret, error) {
	def := w.same
	def.Key = w.key
	path := filepath.Join(filepath.Dir(i.file), w.file+"."+w.key)
	names := setup.EnvNames(w.kind, []string{w.key}, i.lookupEnv)
	switch {
	case w.same != setup.Secret{}:
	case names != nil && !slices.Contains(w.used, setup.Secret{Key: w.key, Env: names[w.key]}):
		def.Env = names[w.key]
	case i.keptAt(path) != "":
		def.File = path
	}
	q := setup.Question{Ask: w.ask, Secret: true, Check: setup.Credential}
	switch {
	case def.Env != "":
		q.Shown = i.talk.say(wordFromEnv, fleet.Values{"env": fleet.Text(def.Env)})
	case def.File != "":
		q.Shown = i.talk.say(wordFromFile, fleet.Values{"file": fleet.Text(def.File)})
	case !w.needed:
		q.Shown = i.talk.say(wordNothing, nil)
	}
	answer, err := i.talk.ask(ctx, q)
	switch {
	case err != nil:
		return setup.Secret{}, err
	case answer != "":
		return i.keep(w.key, path, answer), nil
	case def.Env == "" && def.File == "":
		return setup.Secret{}, nil
	}
	return def, nil
}

// keep remembers what was typed for a file of its own. A file that holds something
// else is left alone: somebody may need that.
func (i *initializer) keep(key, path, value string) setup.Secret {
	if i.keptAt(path) == value {
		return setup.Secret{Key: key, File: path}
	}
	path = i.freeFile(path)
	i.secrets[path] = value
	return setup.Secret{Key: key, File: path}
}

// drop forgets what was typed.
func (i *initializer) drop(ss []setup.Secret) {
	for _, s := range ss {
		delete(i.secrets, s.File)
	}
}

// keptAt is the secret in a file; "" where there is none.
func (i *initializer) keptAt(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// whichInstances asks what to guard in the accounts.
func (i *initializer) whichInstances(ctx context.Context) (err error) {
	i.plan.Names, err = i.talk.ask(ctx, setup.Question{
		Ask: fleet.Because(wordWhichNames, nil), Default: setup.DefaultNames, Check: setup.Glob,
	})
	if err != nil {
		return err
	}
	i.plan.Process, err = i.talk.ask(ctx, setup.Question{
		Ask: fleet.Because(wordWhichProcess, nil), Default: setup.DefaultProcess, Check: setup.Pattern,
	})
	return err
}

// zone is the machine's time zone or, where that is the default of a container
// that nobody set, that of the platform.
func (i *initializer) zone(platform string) string {
	zone := i.machine.Zone()
	if platform != "" && slices.Contains([]string{"", "UTC", "Etc/UTC"}, zone) {
		return platform
	}
	if zone == "" {
		return "UTC"
	}
	return zone
}
