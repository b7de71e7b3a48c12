package app

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/sshx/sshdtest"
	"curfew/notify"
	"curfew/notify/console"
	"curfew/providers"
	"curfew/providers/machines"
	sshsignal "curfew/signals/ssh"
)

func TestTheConfiguredUserLogsInInsteadOfThePlatforms(t *testing.T) {
	box := sshdtest.Start(t, sshdtest.Options{})
	o := &Opener{}
	i := fleet.Instance{Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "a"}, Boot: "b"}
	for _, c := range []struct {
		name, user string
		declared   bool
		reached    bool
	}{
		{"the platform's user is unknown here", "", false, false},
		{"the configured one is not", box.User, false, true},
		{"but what is declared of the machine itself stands", box.User, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := o.Source(config.Signal{Type: "ssh", User: c.user, Every: time.Second, Timeout: 10 * time.Second}, sshsignal.Options{
				Key: box.KeyPEM, Now: time.Now,
				Access: func(context.Context, fleet.Instance) (fleet.Access, error) {
					return fleet.Access{Host: box.Host, Port: box.Port, User: "nobody-of-this-name", Declared: c.declared}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			seen, err := s.Look(t.Context(), []fleet.Instance{i})
			if err != nil || len(seen[i.Ref]) != 1 {
				t.Fatalf("looked: %v, %v", seen, err)
			}
			if e := seen[i.Ref][0]; e.Facts.Reached != c.reached {
				t.Errorf("got inside: %t, want %t; %v", e.Facts.Reached, c.reached, e.Reason)
			}
		})
	}
}

func TestTheSecretsOfDeclaredMachinesAreRead(t *testing.T) {
	box := sshdtest.Start(t, sshdtest.Options{})
	kind := machines.Kind()
	registry := config.Registry{Providers: []providers.Kind{kind}, Channels: []notify.Kind{console.Kind()}}
	const file = `
accounts: [{name: own, provider: machines, machines: [{name: box, host: %s, port: %d, user: %s, key: {file: /etc/key}, password: {env: PASSWORD}}]}]
policies: [{name: p, type: lifetime, match: all, max: 8h, then: stop}]
notify: {channels: [{name: me, type: console}]}
`
	cfg, err := config.Parse("curfew.yaml", fmt.Appendf(nil, file, box.Host, box.Port, box.User), registry)
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{
		Registry: registry, LookupEnv: func(name string) (string, bool) { return "pw-of-" + name, true },
		ReadFile: func(string) ([]byte, error) { return box.KeyPEM, nil },
	}
	a, credential, err := o.Account(cfg.Accounts[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	is, err := a.Instances(t.Context(), a.Scopes[0])
	if err != nil || len(is) != 1 || is[0].State != fleet.StateRunning {
		t.Errorf("listed %+v, %v", is, err)
	}
	access, err := a.Access(t.Context(), is[0])
	if err != nil || access.Password != "pw-of-PASSWORD" || access.Key == "" {
		t.Errorf("access %v, with a key: %t, and a password: %t", err, access.Key != "", access.Password != "")
	}
	if len(credential) != 0 {
		t.Error("the account would be recognised by the key of a machine")
	}
	if known := o.known(); len(known) != 2 {
		t.Errorf("%d secrets are taken out of errors and logs, want 2", len(known))
	}
	t.Run("and one that is not there is told with the machine", func(t *testing.T) {
		o.ReadFile = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
		if _, _, err := o.Account(cfg.Accounts[0], nil); err == nil || !strings.Contains(err.Error(), "machine box: key: secret file /etc/key") {
			t.Errorf("got %v", err)
		}
	})
}
