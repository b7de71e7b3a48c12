package ssh_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"curfew/fleet"
	"curfew/internal/sshx/sshdtest"
	"curfew/signals/ssh"
)

func TestOnlyInputMakesATerminalBusy(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", s.Access())
	master, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal can be had here: %v", err)
	}
	defer master.Close()
	defer terminal.Close()
	name := strings.TrimPrefix(terminal.Name(), "/dev/")
	idle := func() time.Duration {
		t.Helper()
		f := b.look(machine("i", 1)).Facts
		if why := f.Unreadable["sessions"]; why != "" {
			t.Fatal(why)
		}
		for _, s := range f.Sessions {
			if s == (fleet.Session{Kind: "tty", Name: name, Idle: s.Idle}) {
				return s.Idle
			}
		}
		t.Fatalf("%s is not among %v", name, f.Sessions)
		return 0
	}
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(terminal.Name(), hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}

	// A program writes, as a progress bar does.
	if _, err := terminal.WriteString("epoch 3\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(master).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if d := idle(); d < 59*time.Minute || d > 61*time.Minute {
		t.Errorf("after output the terminal is idle for %s", d)
	}

	// Somebody types, and a program reads it.
	if _, err := master.WriteString("ls\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(terminal).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if d := idle(); d > 30*time.Second {
		t.Errorf("after input the terminal is idle for %s", d)
	}
}

func TestRecordsOfLoginsAreRead(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", s.Access())
	s.StandIn("who", `echo "root     pts/7777     2026-11-30 10:00 (10.0.0.1)"`)
	if f := b.look(machine("i", 1)).Facts; f.Unreadable["sessions"] != "" || len(f.Sessions) != 0 && f.Sessions[0].Name == "root pts/7777" {
		t.Errorf("a record without a terminal: %v, %v", f.Sessions, f.Unreadable)
	}
	s.StandIn("who", `echo "wang     :0           2026-11-30 10:00 (:0)"`)
	if f := b.look(machine("i", 1)).Facts; f.Unreadable["sessions"] == "" {
		t.Errorf("a desktop: %v", f.Sessions)
	}
	// Any file will do for a terminal's times.
	path := filepath.Join(s.Home, "console")
	write(t, path, "")
	old := time.Now().Add(-10 * time.Minute)
	if err := os.Chtimes(path, old, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.StandIn("who", `echo "wang     ..`+path+` 2026-11-30 10:00"`)
	f := b.look(machine("i", 1)).Facts
	if len(f.Sessions) == 0 || f.Sessions[len(f.Sessions)-1].Kind != "utmp" || f.Sessions[len(f.Sessions)-1].Idle.Round(time.Minute) != 10*time.Minute {
		t.Errorf("a login: %v, %v", f.Sessions, f.Unreadable)
	}
}
