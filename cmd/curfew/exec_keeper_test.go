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
