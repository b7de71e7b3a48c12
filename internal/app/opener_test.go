package app

import (
	"context"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/sshx/sshdtest"
	sshsignal "curfew/signals/ssh"
)

func TestTheConfiguredUserLogsInInsteadOfThePlatforms(t *testing.T) {
	box := sshdtest.Start(t, sshdtest.Options{})
	o := &Opener{}
	i := fleet.Instance{Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "a"}, Boot: "b"}
	for _, c := range []struct {
		name, user string
		reached    bool
	}{
		{"the platform's user is unknown here", "", false},
		{"the configured one is not", box.User, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := o.Source(config.Signal{Type: "ssh", User: c.user, Every: time.Second, Timeout: 10 * time.Second}, sshsignal.Options{
				Key: box.KeyPEM, Now: time.Now,
				Access: func(context.Context, fleet.Instance) (fleet.Access, error) {
					return fleet.Access{Host: box.Host, Port: box.Port, User: "nobody-of-this-name"}, nil
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
