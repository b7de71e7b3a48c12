package main

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/setup"
)

// guardBox asks what is not known of the machine that curfew runs in.
func (i *initializer) guardBox(ctx context.Context) error {
	sight, known, err := i.recognise(ctx)
	if err != nil {
		return err
	}
	p := sight.Platform
	if !known {
		p = setup.Platform{}
	}
	b := setup.Box{
		Name: setup.MachineName(i.machine, p.Name), Platform: p.Title, Provider: p.Provider,
		EndsBilling: p.OnStop.EndsBilling, KeepsData: p.OnStop.KeepsData,
	}
	if p.Note != "" {
		b.Note = fleet.Because(p.Note, nil)
		i.talk.page().print(i.talk.page().reason(b.Note))
	}
	i.plan.Zone = i.zone(p.Zone)
	i.showCards(ctx, &b)
	if b.Stop, err = i.whichStop(ctx, p); err != nil {
		return err
	}
	if b.Stop != "" {
		if err := i.onStop(ctx, p, &b); err != nil {
			return err
		}
	}
	b.Price, err = i.talk.ask(ctx, setup.Question{
		Ask: fleet.Because(wordWhichPrice, nil), Shown: i.talk.say(wordUnknown, nil), Check: setup.Price,
	})
	if err != nil {
		return err
	}
	b.Billing = p.Billing
	i.plan.Box = &b
	i.found[setup.BoxAccount] = 1
	return nil
}

// recognise tells which platform the machine is of. Where a single mark says so,
// somebody has to agree.
func (i *initializer) recognise(ctx context.Context) (sight setup.Sight, known bool, err error) {
	sight, known = setup.Recognise(i.machine)
	v := fleet.Values{"platform": fleet.Text(sight.Platform.Title), "marks": fleet.Text(marks(sight))}
	switch {
	case known && sight.Sure:
		i.talk.line(wordBoxIs, v)
	case known:
		if known, err = i.talk.confirm(ctx, fleet.Because(wordBoxMaybe, v), setup.No); err != nil {
			return sight, false, err
		}
	}
	if !known {
		i.talk.line(wordBoxStrange, nil)
	}
	return sight, known, nil
}

// showCards looks which cards the machine has.
func (i *initializer) showCards(ctx context.Context, b *setup.Box) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name", "--format=csv,noheader").Output()
	if err == nil {
		b.Model, b.Cards = setup.Cards(string(out))
	}
	if b.Cards == 0 {
		i.talk.line(wordNoCards, fleet.Values{"name": fleet.Text(b.Name)})
		return
	}
	i.talk.line(wordCards, fleet.Values{
		"name": fleet.Text(b.Name), "count": fleet.Number(float64(b.Cards)), "model": fleet.Text(b.Model),
	})
}

// whichStop gives the command that powers the machine off; "" is none.
func (i *initializer) whichStop(ctx context.Context, p setup.Platform) (string, error) {
	switch {
	case p.Stop != "":
		if command := strings.Fields(p.Stop)[0]; path.IsAbs(command) && !i.machine.Has(command) {
			i.talk.line(wordNoCommand, fleet.Values{"command": fleet.Text(command)})
		}
		return p.Stop, nil
	case p.GivesBack != "":
		i.talk.line(wordGivesBack, fleet.Values{"command": fleet.Text(p.GivesBack)})
		answer, err := i.talk.ask(ctx, setup.Question{
			Ask: fleet.Because(wordWhichStop, nil), Default: answerNone,
			Options: []setup.Option{
				{Name: answerNone, Text: i.talk.say(wordNoStop, nil)}, {Name: answerTake, Text: i.talk.say(wordTakeIt, nil)},
			},
		})
		if err != nil || answer == answerNone {
			return "", err
		}
		return p.GivesBack, nil
	case p.OnStop.KeepsData != fleet.KeepsUnknown:
		// What a power-off does there is known to be bad, and no command is known.
		return i.askStop(ctx, answerNone)
	}
	return i.askStop(ctx, "shutdown -h now")
}

func (i *initializer) askStop(ctx context.Context, def string) (string, error) {
	answer, err := i.talk.ask(ctx, setup.Question{Ask: fleet.Because(wordWhichStopOrNone, nil), Default: def})
	if err != nil || answer == answerNone {
		return "", err
	}
	return answer, nil
}

// onStop asks what a stop does, as far as nobody has established it. What is not
// known stays so: it counts as the worse.
func (i *initializer) onStop(ctx context.Context, p setup.Platform, b *setup.Box) error {
	say := func(code fleet.Code) string { return i.talk.say(code, nil) }
	if b.EndsBilling == fleet.Unsure {
		answer, err := i.talk.ask(ctx, setup.Question{
			Ask: fleet.Because(wordEndsBilling, nil), Default: "unknown",
			Options: []setup.Option{{Name: "yes", Text: say(wordBoxYes)}, {Name: "no", Text: say(wordBoxNo)}, {Name: "unknown", Text: say(wordBillingOpen)}},
		})
		if err != nil {
			return err
		}
		b.EndsBilling = map[string]fleet.Tri{"yes": fleet.Yes, "no": fleet.No}[answer]
	}
	if b.KeepsData == fleet.KeepsUnknown {
		answer, err := i.talk.ask(ctx, setup.Question{
			Ask: fleet.Because(wordKeepsData, nil), Default: "unknown",
			Options: []setup.Option{
				{Name: "all", Text: say(wordBoxAll)}, {Name: "part", Text: say(wordBoxPart)},
				{Name: "none", Text: say(wordBoxNone)}, {Name: "unknown", Text: say(wordDataOpen)},
			},
		})
		if err != nil {
			return err
		}
		b.KeepsData = map[string]fleet.Keeps{"all": fleet.KeepsAll, "part": fleet.KeepsPart, "none": fleet.KeepsNone}[answer]
	}
	if b.KeepsData != fleet.KeepsAll {
		i.talk.line(wordLoses, nil)
	}
	if after := p.OnStop.ReleasesAfter; after > 0 {
		b.AutoRelease = fmt.Sprintf("%dd", int(after/day))
		return nil
	}
	if b.KeepsData == fleet.KeepsNone {
		return nil // nothing is left to be deleted later
	}
	var err error
	b.AutoRelease, err = i.talk.ask(ctx, setup.Question{
		Ask: fleet.Because(wordWhichRelease, nil), Shown: say(wordUnknown), Check: setup.Days,
	})
	return err
}
