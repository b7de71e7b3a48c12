package ssh_test

import (
	"testing"
	"time"

	"curfew/internal/sshx/sshdtest"
	"curfew/signals/ssh"
)

func TestHostKeyIsPinnedForOneBoot(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	p := sshdtest.NewProxy(t, s.Access())
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", p.Access(s.Access()))
	i := machine("i", 1)
	if e := b.look(i); !e.Facts.Reached {
		t.Fatal(e.Reason)
	}
	s.NewHostKey()
	s.Restart()
	p.Break()
	e := b.look(i)
	if e.Facts.Reached || e.Reason.Code != ssh.ReasonPinChanged {
		t.Fatalf("another key in the same boot: %v", e.Reason)
	}
	i.Boot = "b2"
	if e := b.look(i); !e.Facts.Reached {
		t.Fatalf("another key in a new boot: %v", e.Reason)
	}
	if n := b.timesAsked(); n != 2 {
		t.Errorf("how to log in was asked %d times, want once per boot", n)
	}
}

func TestConnectionIsKeptAndMadeAnew(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	p := sshdtest.NewProxy(t, s.Access())
	b := newBench(t, ssh.Options{Key: s.KeyPEM, Every: 30 * time.Second})
	b.set("i", p.Access(s.Access()))
	i := machine("i", 1)

	for range 3 {
		if e := b.look(i); !e.Facts.Reached {
			t.Fatal(e.Reason)
		}
	}
	if n := p.Taken(); n != 1 {
		t.Fatalf("three looks took %d connections", n)
	}

	// The stand-in kills the session it runs in: the look breaks in the middle.
	s.SetNvidiaSMI(smi + `p=$PPID
while read -r _ name _ parent _ <"/proc/$p/stat"; do
	case $name in '(sshd'*) kill -9 "$p"; exit;; esac
	p=$parent
done`)
	e := b.look(i)
	if !e.Facts.Reached || e.Facts.Unreadable["cards"] != "the connection broke" || len(e.Facts.Cards) != 0 || !e.Facts.ProcessesRead {
		t.Fatalf("a look that broke in the middle: %v, %v", e.Facts.Unreadable, e.Reason)
	}
	s.SetNvidiaSMI(oneCard)
	if e := b.look(i); !e.Facts.Reached || len(unreadable(e.Facts)) != 0 {
		t.Fatalf("the next look: %v, %v", e.Facts.Unreadable, e.Reason)
	}
	if n := p.Taken(); n != 2 {
		t.Errorf("%d connections, want a second", n)
	}

	p.Break()
	if e := b.look(i); !e.Facts.Reached || len(unreadable(e.Facts)) != 0 {
		t.Fatalf("a look after the connection died in between: %v, %v", e.Facts.Unreadable, e.Reason)
	}

	other := machine("other", 1)
	b.set("other", s.Access())
	b.look(other)
	if n := p.Open(); n != 1 {
		t.Errorf("%d connections are open; a look at something else closes none", n)
	}
	b.pass(81 * time.Second)
	b.look(other)
	if n := p.Open(); n != 0 {
		t.Errorf("%d connections are open to an instance nobody asks about", n)
	}
}
