package config

import (
	"testing"
	"time"

	"curfew/internal/advice"
)

func TestAdviceIsToldUnlessItIsOff(t *testing.T) {
	const head = "accounts: [{name: a, provider: sim}]\n"
	with := func(change func(*advice.Limits)) advice.Limits {
		l := advice.Defaults()
		change(&l)
		return l
	}
	for _, c := range []struct {
		name, yaml string
		want       advice.Limits
	}{
		{"nothing said", "", advice.Defaults()},
		{"off", "advice: off\n", advice.Limits{}},
		{"cards off", "advice: {underused: off}\n", with(func(l *advice.Limits) { l.Underused = advice.Underused{} })},
		{"files off", "advice: {stalled: off}\n", with(func(l *advice.Limits) { l.Stalled = 0 })},
		{"one figure of its own", "advice: {underused: {below: 45.5%}}\n", with(func(l *advice.Limits) { l.Underused.Below = 45.5 })},
		{
			"parts off", "advice: {underused: {swing: off, cpu_for: off}}\n",
			with(func(l *advice.Limits) { l.Underused.Swing, l.Underused.CPUFor = 0, 0 }),
		},
		{
			"all of it", "advice: {underused: {below: 30%, for: 1h, swing: 25, cpu_for: 2h}, stalled: 10m}\n",
			advice.Limits{Underused: advice.Underused{Below: 30, For: time.Hour, Swing: 25, CPUFor: 2 * time.Hour}, Stalled: 10 * time.Minute},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("c.yaml", []byte(head+c.yaml), registry())
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Advice != c.want {
				t.Errorf("limits %+v, want %+v", cfg.Advice, c.want)
			}
			if off := c.yaml == "advice: off\n"; cfg.Advice.Off() != off {
				t.Errorf("off %v, want %v", cfg.Advice.Off(), off)
			}
		})
	}
}

func TestAdviceIsOffOrABlock(t *testing.T) {
	const head = "accounts: [{name: a, provider: sim}]\n"
	for yaml, want := range map[string]string{
		"advice: on\n":               `c.yaml:2:9: advice: "on" is not known here; write off`,
		"advice: {underused: 60%}\n": `c.yaml:2:21: advice.underused: "60%" is not known here; write off`,
		"advice: [60%]\n":            "c.yaml:2:9: advice: is a list, not a block of keys; write {key: value}, or a line with key: value for each",
	} {
		if _, err := Parse("c.yaml", []byte(head+yaml), registry()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", yaml, err, want)
		}
	}
}
