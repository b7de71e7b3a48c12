package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/press"
	"curfew/internal/text"
	"curfew/notify"
)

// The words on buttons and links.
const (
	labelHoldHour    fleet.Code = "press.hold-1h"
	labelHoldMorning fleet.Code = "press.hold-morning"
	labelNow         fleet.Code = "press.now"
	labelNever       fleet.Code = "press.never"
	labelApprove     fleet.Code = "press.approve"
)

// The pauses before a channel that cannot be heard is listened to again. One that was
// heard for long begins with the first.
const (
	listenPause = 5 * time.Second
	listenMost  = 5 * time.Minute
	listenLong  = 2 * time.Minute
)

// ReasonPressUnheard tells that nobody hears what is pressed.
const ReasonPressUnheard fleet.Code = "app.press-unheard"

// unheardAfter is for how long buttons may not be heard before people are told, and
// unheardAgain how far apart it is told of the same ones: a network comes and goes.
const (
	unheardAfter = 10 * time.Minute
	unheardAgain = 24 * time.Hour
)

func label(w press.What) fleet.Reason {
	codes := map[press.What]fleet.Code{
		press.HoldHour: labelHoldHour, press.HoldMorning: labelHoldMorning, press.Now: labelNow, press.Never: labelNever, press.Approve: labelApprove,
	}
	return fleet.Because(codes[w], nil)
}

// hears gives what a channel listens to; empty: nothing, since it cannot or since nobody
// may press its buttons.
func hears(entry config.Channel, c notify.Channel) string {
	if l, ok := c.(notify.Listener); ok && len(entry.Users) > 0 {
		return l.Hears()
	}
	return ""
}

// actions gives what the readers of a channel can say to a notice: by buttons where
// somebody hears of them, else by links where there is a page for them.
func (a *App) actions(ctx context.Context, cfg *config.Config, entry config.Channel, open notify.OpenChannel) (func(notify.Notice) []notify.Action, error) {
	buttons, address := hears(entry, open.Channel) != "", cfg.Address()
	if !buttons && address == "" {
		return nil, nil
	}
	key, err := a.pressKey(ctx)
	if err != nil {
		return nil, err
	}
	return func(n notify.Notice) []notify.Action {
		if !answerable(n) {
			return nil
		}
		var all []notify.Action
		for _, what := range wishes(n) {
			p := press.Press{Intent: n.Intent.ID, Turn: n.Intent.Announced, What: what, Expires: n.At.Add(press.Lasts)}
			one := notify.Action{Label: open.Renderer.Reason(label(what), n.At), Risky: what.Risky()}
			if buttons {
				one.Value = press.Value(key, buttonPlace(entry.Name), p)
			} else {
				one.URL = address + webLink(press.Value(key, linkPlace(entry.Name), p))
			}
			all = append(all, one)
		}
		return all
	}, nil
}

// ear is what listens for several channels: they would take presses from each other.
type ear struct {
	listener notify.Listener
	channels []string
}

// ears gives what is to be listened to, in the order of the file.
func (rt *runtime) ears() []ear {
	var all []ear
	at := map[string]int{}
	for _, entry := range rt.cfg.Notify.Channels {
		open := rt.channels[entry.Name]
		to := hears(entry, open.Channel)
		if to == "" {
			continue
		}
		n, ok := at[to]
		if !ok {
			n, at[to] = len(all), len(all)
			l, _ := open.Channel.(notify.Listener)
			all = append(all, ear{listener: l})
		}
		all[n].channels = append(all[n].channels, entry.Name)
	}
	return all
}

// listeners hears what people press under the present configuration, and starts anew
// when it is swapped.
func (a *App) listeners(ctx context.Context) error {
	for ctx.Err() == nil {
		rt := a.runtime()
		round, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for _, e := range rt.ears() {
			wg.Go(func() { a.listen(round, e) })
		}
		select {
		case <-ctx.Done():
		case <-a.reheard:
		}
		cancel()
		wg.Wait()
	}
	return ctx.Err()
}

// listen listens until ctx is done, with a pause after whatever ends it. Where it goes
// on ending people are told, once.
func (a *App) listen(ctx context.Context, e ear) {
	log := a.log.With().Strs("channels", e.channels).Logger()
	pause, last := listenPause, ""
	var since time.Time // that it ends again and again
	told := false
	for ctx.Err() == nil {
		began := a.clock.Now()
		err := e.listener.Listen(ctx, func(ctx context.Context, p notify.Press) (notify.Heard, error) { return a.hear(ctx, e.channels, p) })
		if ctx.Err() != nil {
			return
		}
		if a.clock.Now().Sub(began) >= listenLong {
			pause, last, since, told = listenPause, "", time.Time{}, false
		}
		since = earlier(since, a.clock.Now())
		if err == nil {
			err = errors.New("the connection ended")
		}
		if err.Error() != last { // the same is said once
			log.Warn().Err(err).Msg("presses of buttons are not heard, will be tried again")
			last = err.Error()
		}
		if !told && a.clock.Now().Sub(since) >= unheardAfter {
			tellErr := a.tellUnheard(ctx, e, since, err)
			if told = tellErr == nil; !told {
				log.Error().Err(tellErr).Msg("tell that buttons are not heard")
			}
		}
		if a.clock.Sleep(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, listenMost)
	}
}

// tellUnheard tells that what is pressed in some channels is not heard. They are told,
// too: what they show can still be read.
func (a *App) tellUnheard(ctx context.Context, e ear, since time.Time, why error) error {
	channels := strings.Join(e.channels, ", ")
	return a.tellOnce(ctx, notify.Notice{
		Key:   "channel|" + channels + "|unheard",
		Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryHealth,
		Reason: fleet.Because(ReasonPressUnheard, fleet.Values{
			"channels": fleet.Text(channels), "since": fleet.Moment(since.Truncate(time.Second)), "why": fleet.Text(why.Error()),
		}),
	}, unheardAgain)
}

// hear answers a press of a button in one of some channels. Who may press is asked of
// the configuration in force, also where another still listens.
func (a *App) hear(ctx context.Context, channels []string, pressed notify.Press) (notify.Heard, error) {
	rt := a.runtime()
	key, err := a.pressKey(ctx)
	if err != nil {
		return notify.Heard{}, err
	}
	now := a.clock.Now()
	for _, name := range channels {
		p, err := press.Read(key, buttonPlace(name), pressed.Value, now)
		if errors.Is(err, press.ErrWrong) {
			continue
		}
		entry, _ := find(rt.cfg.Notify.Channels, func(c config.Channel) bool { return c.Name == name })
		if !slices.Contains(entry.Users, pressed.User) {
			return a.mayNot(rt, name, pressed), nil
		}
		came, _, err := a.press(ctx, p, who{by: personName(pressed.Name, pressed.User), channel: name})
		if err != nil {
			a.databaseIs(err)
			a.log.Error().Err(err).Str("channel", name).Int64("intent", p.Intent).Msg("what somebody pressed could not be done")
			return notify.Heard{}, err
		}
		return notify.Heard{Words: rt.say(name, came, now), Settled: true}, nil
	}
	a.log.Warn().Strs("channels", channels).Str("user", pressed.User).Msg("a button was pressed that is not of this curfew")
	return notify.Heard{Words: rt.say(channels[0], fleet.Because(ReasonPressWrong, nil), now)}, nil
}

// mayNot tells somebody who may not press, once.
func (a *App) mayNot(rt *runtime, channel string, pressed notify.Press) notify.Heard {
	a.pressed.mu.Lock()
	defer a.pressed.mu.Unlock()
	key := channel + "|" + pressed.User
	if a.pressed.refused[key] {
		return notify.Heard{}
	}
	if a.pressed.refused == nil || len(a.pressed.refused) >= refusedKept {
		a.pressed.refused = map[string]bool{}
	}
	a.pressed.refused[key] = true
	a.log.Warn().Str("channel", channel).Str("user", pressed.User).Msg("a button was pressed by somebody who is not among users")
	return notify.Heard{Words: rt.say(channel, fleet.Because(ReasonPressMayNot, fleet.Values{
		"user": fleet.Text(pressed.User), "channel": fleet.Text(channel),
	}), a.clock.Now())}
}

// say puts words into the language of a channel.
func (rt *runtime) say(channel string, r fleet.Reason, now time.Time) string {
	render := rt.render
	if open, ok := rt.channels[channel]; ok && open.Renderer != nil {
		render = open.Renderer
	}
	return render.Reason(r, now)
}

// in gives a renderer of the zone of the configuration in another language.
func (rt *runtime) in(lang text.Language) *text.Renderer {
	if rt.render.Language() == lang {
		return rt.render
	}
	r, err := text.New(lang, rt.cfg.Timezone)
	if err != nil {
		return rt.render
	}
	return r
}
