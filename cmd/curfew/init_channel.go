package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"curfew/fleet"
	"curfew/internal/setup"
	"curfew/notify"
)

// tellSomewhere asks for a channel and tries it, until a message arrived or
// somebody wants to go on.
func (i *initializer) tellSomewhere(ctx context.Context) error {
	for {
		kind, err := i.whichChannel(ctx)
		if err != nil {
			return err
		}
		done, err := i.addChannel(ctx, kind)
		if err != nil || done {
			return err
		}
	}
}

func (i *initializer) whichChannel(ctx context.Context) (notify.Kind, error) {
	autodl := i.autodlToken()
	atAutoDL := autodl != setup.Secret{} || i.plan.Box != nil && i.plan.Box.Provider == "autodl"
	kinds := setup.ChannelsInOrder(registry().Channels, atAutoDL)
	q := setup.Question{Ask: fleet.Because(wordWhichChannel, nil)}
	for _, k := range kinds {
		o := setup.Option{Name: k.Name, Text: k.Title}
		ready := false
		switch env := i.inEnv(k); {
		case k.Name == notify.ConsoleKind:
			o.Text = i.talk.say(wordConsole, nil)
			if i.plan.Box != nil {
				o.Note = i.talk.say(wordConsoleBox, nil)
			}
			ready = i.yes // nobody is there to be asked for a key
		case env != "":
			o.Note = i.talk.say(wordInEnv, fleet.Values{"env": fleet.Text(env)})
			ready = true
		case k.Name == "autodlpush" && autodl != setup.Secret{}:
			ready = true
		}
		if ready && q.Default == "" {
			q.Default = k.Name
		}
		q.Options = append(q.Options, o)
	}
	if q.Default == "" {
		q.Default = q.Options[0].Name
	}
	answer, err := i.talk.ask(ctx, q)
	if err != nil {
		return notify.Kind{}, err
	}
	return kinds[slices.IndexFunc(kinds, func(k notify.Kind) bool { return k.Name == answer })], nil
}

// inEnv is the variable that holds a channel's credential, the first of those it may
// have. One is enough to be asked for the rest.
func (i *initializer) inEnv(k notify.Kind) string {
	for _, key := range k.Credentials {
		if names := setup.EnvNames(k.Name, []string{key}, i.lookupEnv); names != nil {
			return names[key]
		}
	}
	return ""
}

// autodlToken is where the token of an AutoDL account in the plan is. AutoDL's
// messages take the same one.
func (i *initializer) autodlToken() setup.Secret {
	for _, s := range i.used("autodl") {
		if s.Key == "token" {
			return s
		}
	}
	return setup.Secret{}
}

// addChannel asks for what a channel needs and sends a test message; done says
// that no other is wanted.
func (i *initializer) addChannel(ctx context.Context, kind notify.Kind) (done bool, err error) {
	for {
		c, err := i.channelEntry(ctx, kind)
		if err != nil {
			return false, err
		}
		ok, err := i.tryChannel(ctx, c)
		if err != nil {
			return false, err
		}
		if ok {
			return i.arrived(ctx, kind, c)
		}
		answer, err := i.whatNow(ctx, answerRetype, answerOther, answerKeep, answerNone)
		if err != nil {
			return false, err
		}
		if answer == answerKeep {
			i.plan.Channel = &c
			return true, nil
		}
		i.forget(c)
		if answer != answerRetype {
			return answer == answerNone, nil
		}
	}
}

// forget drops what was typed for a channel, but for what an account needs.
func (i *initializer) forget(c setup.Channel) {
	shared := i.autodlToken()
	i.drop(slices.DeleteFunc(slices.Clone(c.Credential), func(s setup.Secret) bool { return s.File == shared.File }))
}

// arrived asks whether the message is there. A console shows it itself.
func (i *initializer) arrived(ctx context.Context, kind notify.Kind, c setup.Channel) (done bool, err error) {
	if kind.Name != notify.ConsoleKind {
		there, err := i.talk.confirm(ctx, fleet.Because(wordArrived, nil), setup.Yes)
		if err != nil {
			return false, err
		}
		if !there {
			other, err := i.talk.confirm(ctx, fleet.Because(wordOtherChannel, nil), setup.Yes)
			if err != nil {
				return false, err
			}
			if other {
				i.forget(c)
				return false, nil
			}
		}
	}
	if kind.Name == notify.ConsoleKind && i.plan.Box != nil {
		i.talk.line(wordConsoleBox, nil)
	}
	i.plan.Channel = &c
	return true, nil
}

func (i *initializer) channelEntry(ctx context.Context, kind notify.Kind) (setup.Channel, error) {
	c := setup.Channel{Name: setup.ChannelName(kind.Name), Type: kind.Name, BaseURL: i.baseURLs[kind.Name]}
	if kind.Name == "autodlpush" && i.plan.Box != nil {
		i.talk.line(wordMasterKey, nil)
	}
	for len(c.Credential) == 0 && len(kind.Credentials) > 0 {
		for _, key := range kind.Credentials {
			w := wanted{
				ask:  fleet.Because(wordChannelCredential, credentialValues(kind.Title, kind.Name, key)),
				kind: kind.Name, key: key, file: c.Name, needed: len(kind.Credentials) == 1 && !kind.NoSecrets,
			}
			if kind.Name == "autodlpush" {
				w.same = i.autodlToken()
			}
			s, err := i.credential(ctx, w)
			if err != nil {
				return c, err
			}
			if s != (setup.Secret{}) {
				c.Credential = append(c.Credential, s)
			}
		}
		if kind.NoSecrets {
			break
		}
		if len(c.Credential) == 0 {
			if i.yes {
				return c, errLeft
			}
			i.talk.line(wordOneOf, fleet.Values{"keys": fleet.Text(strings.Join(kind.Credentials, ", "))})
		}
	}
	if _, err := i.openChannel(c); err == nil {
		return c, nil // what it can do without is not asked for
	}
	for _, key := range kind.Settings {
		answer, err := i.talk.ask(ctx, setup.Question{
			Ask:   fleet.Because(wordChannelSetting, credentialValues(kind.Title, kind.Name, key)),
			Shown: i.talk.say(wordNothing, nil),
		})
		if err != nil {
			return c, err
		}
		if answer != "" {
			c.Settings = append(c.Settings, [2]string{key, answer})
		}
	}
	return c, nil
}

// tryChannel sends a test message over a channel that is not written yet, and
// shows how its answer is judged.
func (i *initializer) tryChannel(ctx context.Context, c setup.Channel) (ok bool, err error) {
	v, err := i.sendTest(ctx, c)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		i.talk.line(wordChannelBad, fleet.Values{"why": fleet.Text(i.clean(err.Error()))})
		return false, nil
	}
	g := i.talk.page()
	values := fleet.Values{"channel": fleet.Text(c.Name), "verdict": fleet.Text(g.verdict(v.Kind))}
	if v.Code != "" {
		values["code"] = fleet.Text(i.clean(v.Code))
	}
	if v.Detail != "" {
		values["detail"] = fleet.Text(i.clean(v.Detail))
	}
	g.line(wordSent, values)
	return v.Kind == notify.VerdictOK, nil
}

// openChannel opens a channel that is not written yet. Nothing is sent.
func (i *initializer) openChannel(c setup.Channel) (open notify.OpenChannel, err error) {
	plan := i.plan
	plan.Channel = &c
	cfg, err := i.draft(plan)
	if err != nil {
		return open, err
	}
	return i.trier().Channel(cfg.Notify.Channels[0], i.render.Language(), cfg.Timezone)
}

func (i *initializer) sendTest(ctx context.Context, c setup.Channel) (v notify.Verdict, err error) {
	open, err := i.openChannel(c)
	if err != nil {
		return v, err
	}
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	now := i.now()
	m := notify.Render(notify.Notice{Event: notify.EventTest, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now}, open.Renderer, now)
	m.DeliveryID = fmt.Sprintf("test-%d", now.UnixNano())
	err = i.progress(ctx, wordAsking, func() error {
		v = open.Channel.Send(ctx, m)
		return nil
	})
	return v, err
}
