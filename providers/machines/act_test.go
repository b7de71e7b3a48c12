package machines_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// order declares a machine that is stopped and started by these commands, and gives
// it as it is read.
func order(t *testing.T, stop, start string) (*lab, fleet.Instance) {
	t.Helper()
	l := newLab(t, func(o *providers.Options) { o.Machines[0].Stop, o.Machines[0].Start = stop, start }, "a", "b")
	return l, l.running("a")
}

func (l *lab) stop(ctx context.Context, i fleet.Instance) error {
	return l.account.Stop(ctx, i, providers.StopOptions{Token: "t"})
}

// left reports whether a command left a file in the home of the box.
func (l *lab) left(name string) bool {
	_, err := os.Stat(filepath.Join(l.box.Home, name))
	return err == nil
}

func TestAStopOfAMachineElsewhereIsRunInIt(t *testing.T) {
	t.Run("by a login shell, as it stands, with nothing to read", func(t *testing.T) {
		l, i := order(t, `. /dev/null; case $- in *i*) exit 9;; esac; cat; printf %s "it's $HOME" >~/done; [ "$0" = /bin/bash ] || exit 0; shopt -q login_shell || exit 8`, "")
		if err := l.stop(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(l.box.Home, "done")); err != nil || string(got) != "it's "+l.box.Home {
			t.Errorf("it wrote %q, %v", got, err)
		}
		if n := l.proxies["a"].Taken(); n != 1 {
			t.Errorf("%d connections were made, want that of the reads", n)
		}
		if l.proxies["b"].Taken() > 1 {
			t.Error("another machine was asked")
		}
	})
	for name, c := range map[string]struct {
		command string
		kind    fleet.ErrorKind
		says    string
	}{
		"one that fails says how":                 {"echo first; echo 'must be\troot' >&2; exit 3", fleet.Other, "machines: stop a: other: the command ended with exit status 3: must beroot"},
		"one that writes a lot says the last":     {"i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1", fleet.Other, "machines: stop a: other: the command ended with exit status 1: line 19999"},
		"one that is killed may have had effect":  {"echo going; kill -9 $$", fleet.OutcomeUnknown, "the command was killed: going"},
		"one that ends the login may have had it": {"kill -9 $(awk '/^PPid/ {print $2}' /proc/$PPID/status) $PPID; sleep 60", fleet.OutcomeUnknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, i := order(t, c.command, "")
			err := l.stop(t.Context(), i)
			if fleet.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s %s", err, c.kind, c.says)
			}
		})
	}
	t.Run("one that hangs may have had effect", func(t *testing.T) {
		l, i := order(t, "touch ~/begun; exec sleep 60", "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.stop(ctx, i); !errors.Is(err, fleet.OutcomeUnknown) || !l.left("begun") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that cuts the network may have had effect", func(t *testing.T) {
		l, i := order(t, "touch ~/begun; exec sleep 60", "")
		go func() {
			for !l.left("begun") && t.Context().Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			l.fail("a", refused)
		}()
		if err := l.stop(t.Context(), i); !errors.Is(err, fleet.OutcomeUnknown) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAStopIsSentToNobodyElse(t *testing.T) {
	const command = "touch ~/wrong"
	for name, c := range map[string]struct {
		change func(l *lab)
		kind   fleet.ErrorKind
	}{
		"not in another power cycle":                          {func(l *lab) { hostOf(l.box, 5, kernel) }, fleet.Conflict},
		"not to one of which nobody can tell the power cycle": {func(l *lab) { l.box.StandIn("cat", "exit 1") }, fleet.Transient},
		"not to one that is off": {func(l *lab) {
			l.fail("a", refused)
			l.want(time.Minute, "a", fleet.StateUnknown, "provider.machines-gone-once")
			l.want(time.Minute, "a", fleet.StateStopped, "")
		}, fleet.Conflict},
		"not to one that is gone for now": {func(l *lab) { l.fail("a", late) }, fleet.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			l, i := order(t, command, "")
			c.change(l)
			if err := l.stop(t.Context(), i); fleet.KindOf(err) != c.kind {
				t.Errorf("got %v, want %s", err, c.kind)
			}
			if l.left("wrong") {
				t.Error("the command was run")
			}
		})
	}
	t.Run("not without a login", func(t *testing.T) {
		l := newLab(t, func(o *providers.Options) { o.Machines[0].Stop, o.Machines[0].Key = command, otherKey(t) }, "a", "b")
		i := l.want(0, "a", fleet.StateUnknown, "provider.machines-no-login")
		if err := l.stop(t.Context(), i); !errors.Is(err, fleet.Unauthorized) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("none that is not declared", func(t *testing.T) {
		l, i := order(t, "", "")
		if err := l.stop(t.Context(), i); !errors.Is(err, fleet.Unsupported) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAStartIsRunBesideCurfew(t *testing.T) {
	dir := t.TempDir()
	start := func(i fleet.Instance, l *lab, o providers.StartOptions) error {
		return l.account.Start(t.Context(), i, o)
	}
	t.Run("and is told which machine is meant", func(t *testing.T) {
		l, i := order(t, "", `printf '%s at %s' "$CURFEW_NAME" "$CURFEW_HOST" >`+filepath.Join(dir, "woken"))
		if !i.Unable(fleet.Start).IsZero() {
			t.Errorf("it cannot: %v", i.Unable(fleet.Start))
		}
		if err := start(i, l, providers.StartOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "woken")); err != nil || string(got) != "a at 127.0.0.1" {
			t.Errorf("it wrote %q, %v", got, err)
		}
	})
	t.Run("one that fails says how", func(t *testing.T) {
		l, i := order(t, "", "echo no such host >&2; exit 2")
		const want = "machines: start a: other: the command ended with exit status 2: no such host"
		if err := start(i, l, providers.StartOptions{}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("never without cards", func(t *testing.T) {
		l, i := order(t, "", "touch "+filepath.Join(dir, "wrong"))
		if err := start(i, l, providers.StartOptions{NoGPU: true}); !errors.Is(err, fleet.Unsupported) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "wrong")); err == nil {
			t.Error("the command was run")
		}
	})
	t.Run("none that is not declared", func(t *testing.T) {
		l, i := order(t, "", "")
		if err := start(i, l, providers.StartOptions{}); !errors.Is(err, fleet.Unsupported) {
			t.Errorf("got %v", err)
		}
	})
}
