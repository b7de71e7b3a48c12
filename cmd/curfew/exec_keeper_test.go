package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/providers"
)

func TestOnlyWhoWouldStopTheMachineKeepsThePromise(t *testing.T) {
	good := ctl.Exec{Machine: "box-1", Mode: fleet.Enforce, Home: "/root"}
	with := func(change func(*ctl.Exec)) ctl.Exec {
		e := good
		change(&e)
		return e
	}
	for _, c := range []struct {
		name string
		exec ctl.Exec
		says string
	}{
		{"a daemon that acts, and looks here", good, ""},
		{"a guard", with(func(e *ctl.Exec) { e.Guard = 7 }), ""},
		{"an older daemon, or one of another machine", ctl.Exec{}, "does not know this machine"},
		{"one that only tells", with(func(e *ctl.Exec) { e.Mode = fleet.DryRun }), "mode: enforce"},
		{"one that does not look inside", with(func(e *ctl.Exec) { e.Home = "" }), "signals: [{type: local}]"},
		{"one of another user", with(func(e *ctl.Exec) { e.Home = "/home/wang" }), "/home/wang"},
	} {
		t.Run(c.name, func(t *testing.T) {
			words, err := text.New(text.English, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			k := &keeper{
				job: &job{home: "/root", program: &program{render: words, system: system{stderr: &said, now: time.Now}}},
				cfg: &config.Config{Accounts: []config.Account{{Machines: []providers.Machine{{Name: "box-1", Here: true}}}}},
			}
			err = k.judge(ctl.Status{Config: "/etc/curfew/curfew.yaml", Exec: c.exec})
			if c.says == "" {
				if err != nil || said.Len() > 0 {
					t.Errorf("it is refused: %v, %s", err, &said)
				}
				return
			}
			exit, ok := errors.AsType[*exitError](err)
			if !ok || exit.code != exitUsage || !strings.Contains(said.String(), c.says) {
				t.Errorf("got %v and\n%s", err, &said)
			}
		})
	}
}

func TestWhereNothingCanBeNotedNothingIsPromised(t *testing.T) {
	words, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	free := map[string]uint64{"/data": 3 << 20, "/root/.curfew": 1 << 30}
	k := &keeper{
		cfg: &config.Config{State: "sqlite:/data/curfew.db"}, log: "/root/.curfew/guard.log",
		room: func(folder string) (uint64, error) {
			room, known := free[folder]
			if !known {
				return 0, errors.New("nobody knows")
			}
			return room, nil
		},
	}
	said := func() string {
		var out []string
		for _, why := range k.full() {
			out = append(out, words.Reason(fleet.Because(wordExecNotStarted, fleet.Values{"why": why}), time.Now()))
		}
		return strings.Join(out, "\n")
	}
	if got := said(); !strings.Contains(got, "no space is left in /data (3 MiB free, 16 MiB needed)") || strings.Contains(got, "/root") {
		t.Errorf("of a full disk it says %q", got)
	}
	free["/data"] = guardRoom
	if got := said(); got != "" {
		t.Errorf("of enough space it says %q", got)
	}
	delete(free, "/data")
	if got := said(); got != "" {
		t.Errorf("of what cannot be told it says %q", got)
	}
}

func TestSomebodyHasToReadIt(t *testing.T) {
	console, wx := config.Channel{Name: "me", Type: "console"}, config.Channel{Name: "wx", Type: "wecom"}
	for _, c := range []struct {
		name     string
		channels []config.Channel
		routes   []notify.Route
		want     bool
	}{
		{"a chat", []config.Channel{wx}, []notify.Route{{To: []string{"wx"}}}, true},
		{"the console alone", []config.Channel{console}, []notify.Route{{To: []string{"me"}}}, false},
		{"both", []config.Channel{console, wx}, []notify.Route{{To: []string{"me", "wx"}}}, true},
		{"acts go to the console", []config.Channel{console, wx}, []notify.Route{
			{Categories: []fleet.Category{fleet.CategoryAct}, To: []string{"me"}}, {To: []string{"wx"}},
		}, false},
		{"acts go to the chat", []config.Channel{console, wx}, []notify.Route{
			{Categories: []fleet.Category{fleet.CategoryMoney}, To: []string{"me"}}, {To: []string{"wx"}},
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reachesPeople(config.Notify{Channels: c.channels, Routes: c.routes}); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
