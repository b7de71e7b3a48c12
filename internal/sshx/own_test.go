package sshx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"curfew/internal/sshx"
	"curfew/internal/sshx/sshdtest"
)

func TestATargetsOwnKeyGoesFirst(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{})
	right, err := sshx.ParseKey(s.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	own := s.Access()
	own.Key = string(s.KeyPEM)
	t.Run("where the dialer has none", func(t *testing.T) {
		if _, err := dial(t, dialer(), "b", own); err != nil {
			t.Error(err)
		}
	})
	t.Run("where the dialer has another", func(t *testing.T) {
		d := dialer()
		d.Key = newSigner(t)
		if _, err := dial(t, d, "b", own); err != nil {
			t.Error(err)
		}
	})
	t.Run("where the dialer has the same", func(t *testing.T) {
		d := dialer()
		d.Key = right
		if _, err := dial(t, d, "b", own); err != nil {
			t.Error(err)
		}
	})
	t.Run("one that cannot be read is told, and not shown", func(t *testing.T) {
		d, broken := dialer(), s.Access()
		d.Key, broken.Key = right, "hunter2"
		if _, err := dial(t, d, "b", broken); !errors.Is(err, sshx.ErrAuth) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheEndOfWhatACommandWrites(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{})
	own := s.Access()
	own.Key = string(s.KeyPEM)
	c, err := dial(t, dialer(), "b", own)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]struct {
		command, want string
		exit          int
	}{
		"less than is kept":       {"echo one", "one\n", 0},
		"more than is kept":       {"seq 1 50000", "9998\n49999\n50000\n", 0},
		"of a command that fails": {"seq 1 50000 >&2; echo must be root >&2; exit 3", "000\nmust be root\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := c.Tail(t.Context(), w.command, nil, 17)
			exit, failed := errors.AsType[*sshx.Exit](err)
			if failed != (w.exit != 0) || failed && exit.Status != w.exit || !failed && err != nil {
				t.Fatalf("got %v", err)
			}
			if string(out) != w.want {
				t.Errorf("kept %q, want %q", out, w.want)
			}
		})
	}
}

func TestAPeerThatIsThereAnswers(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{})
	p := sshdtest.NewProxy(t, s.Access())
	own := p.Access(s.Access())
	own.Key = string(s.KeyPEM)
	c, err := dial(t, dialer(), "b", own)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Answers(t.Context()) {
		t.Error("it does not answer")
	}
	p.Silence()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if c.Answers(ctx) || c.Alive() {
		t.Error("it answers, although nothing comes through")
	}
}
