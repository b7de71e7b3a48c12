package accept_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/sshx/sshdtest"
)

// token is no real one.
const token = "hf_not-a-'real'-token$(touch x)"

func (m *machine) bootstrap(script string, change ...func(*accept.Bootstrap)) accept.Booted {
	m.t.Helper()
	b := accept.Bootstrap{Script: script, Timeout: time.Minute, Secrets: map[string]string{"HF_TOKEN": token, "KEY": "begin of a key\nits second line\n"}}
	for _, c := range change {
		c(&b)
	}
	got, err := m.examiner().Bootstrap(m.t.Context(), m.instance(), b)
	if err != nil {
		m.t.Fatal(err)
	}
	return got
}

func TestABootstrapHasItsValuesAndSecrets(t *testing.T) {
	for name, first := range map[string]string{"the login's shell": "", "bash": "#!/usr/bin/env bash\n", "sh -e": "#!/bin/sh -e\r\n"} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, sshdtest.Options{})
			to := filepath.Join(m.disk, "said")
			got := m.bootstrap(first + `# it's for {{.Name}}
printf '%s|%s|%s' {{.Name}} "in {{.Region}}" "$HF_TOKEN" >` + to + `
cat >>` + to + ` # there is nothing to read
echo done`)
			said, err := os.ReadFile(to)
			if want := "exp $(touch /tmp/x) 'it' is|in west|" + token; !got.OK || err != nil || string(said) != want {
				t.Errorf("%+v wrote %q (%v), want %q", got, said, err, want)
			}
			if got.Exit == nil || *got.Exit != 0 || string(got.Log) != "done\n" {
				t.Errorf("%+v with the log %q", got.Bootstrapped, got.Log)
			}
		})
	}
}

func TestNoSecretIsInALogOrACommandLine(t *testing.T) {
	m := newMachine(t, sshdtest.Options{})
	for name, script := range map[string]string{
		"it is printed":         `echo "the token is $HF_TOKEN"; exit 3`,
		"the shell shows it":    `set -x; export TOKEN="$HF_TOKEN"; exit 3`,
		"it is in the error":    `echo "denied: $HF_TOKEN" >&2; exit 3`,
		"a line of it":          `echo "$KEY" | tail -n 1; exit 3`,
		"it is cut in the log":  `i=0; while [ $i -lt 9000 ]; do echo "$HF_TOKEN $HF_TOKEN"; i=$((i+1)); done; exit 3`,
		"it is all in one line": `i=0; while [ $i -lt 9000 ]; do printf %s "$HF_TOKEN$HF_TOKEN"; i=$((i+1)); done; exit 3`,
		"every command line":    `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\000' ' ' | tail -c 100000; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			got := m.bootstrap(script)
			all := string(got.Log) + says(t, []fleet.Reason{got.Why})
			for _, secret := range []string{token, "hf_not-a", "-token$(", "second line", "touch x"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in it: %.300q", secret, all)
				}
			}
			if got.Exit == nil || *got.Exit != 3 || got.Why.Code != accept.BootFailed || len(got.Log) > accept.LogLimit {
				t.Errorf("%+v", got.Bootstrapped)
			}
		})
	}
}

func TestABootstrapThatTakesTooLongIsKilledWithItsChildren(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	got := m.bootstrap("echo halfway; sleep 98721 & sleep 98721", func(b *accept.Bootstrap) { b.Timeout = 2 * time.Second })
	told(t, []fleet.Reason{got.Why}, "longer than 2", "halfway")
	if got.Exit != nil || got.OK || string(got.Log) != "halfway\n" {
		t.Errorf("%+v, %q", got.Bootstrapped, got.Log)
	}
	until(t, "nothing is left of it", func() bool { return sleepers(t, "98721") == 0 })
}

func TestABootstrapWhoseConnectionBreaksIsOver(t *testing.T) {
	m := newMachine(t, sshdtest.Options{})
	done := make(chan accept.Booted)
	go func() { done <- m.bootstrap("echo halfway; sleep 98722") }()
	until(t, "it runs", func() bool { return sleepers(t, "98722") > 0 })
	m.proxy.Break()
	if got := <-done; got.Why.Code != accept.BootLost || !got.Begun {
		t.Errorf("%+v", got.Bootstrapped)
	}
	until(t, "nothing is left of it", func() bool { return sleepers(t, "98722") == 0 })
}

func TestABootstrapThatMakesNoSenseIsNotRun(t *testing.T) {
	m := newMachine(t, sshdtest.Options{})
	for script, words := range map[string]string{
		" \n":                         "is empty",
		"#!/usr/bin/python3\nprint()": "write a script for sh or bash",
		"#!/bin/bash --posix\ntrue":   "options of the shell as -e",
		"echo '{{.Name}}'":            "inside single quotes",
		"echo {{.Owner}}":             "Owner",
		"echo {{.Labels.team}}":       "Labels.team",
	} {
		got := m.bootstrap(script)
		if got.Begun || got.OK || got.Why.Code != accept.BootUnfilled {
			t.Errorf("%q: %+v", script, got.Bootstrapped)
		}
		told(t, []fleet.Reason{got.Why}, words)
	}
	got := m.bootstrap("true", func(b *accept.Bootstrap) { b.Secrets = map[string]string{"A B": "x"} })
	if got.Begun || got.Why.Code != accept.BootUnfilled {
		t.Errorf("%+v", got.Bootstrapped)
	}
}
