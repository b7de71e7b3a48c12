package ssh_test

import (
	"strings"
	"testing"
	"time"

	"curfew/internal/sshx/sshdtest"
	"curfew/signals/ssh"
)

func TestCardsThatCannotBeReadAreNamed(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{})
	b := newBench(t, ssh.Options{Key: s.KeyPEM, Timeout: 4 * time.Second})
	b.set("i", s.Access())
	t.Run("no card and no tool is a machine without cards", func(t *testing.T) {
		if f := b.look(machine("i", 0)).Facts; len(f.Cards) != 0 || f.Unreadable["cards"] != "" {
			t.Errorf("%+v, %v", f.Cards, f.Unreadable)
		}
	})
	t.Run("a card and no tool is unreadable", func(t *testing.T) {
		if f := b.look(machine("i", 1)).Facts; !strings.Contains(f.Unreadable["cards"], "no nvidia-smi") {
			t.Errorf("%+v, %v", f.Cards, f.Unreadable)
		}
	})
	for _, c := range []struct{ name, body, want string }{
		{"a card at rest is readable", `echo "0, NVIDIA A100, 0, 1, 50.00, Disabled"`, ""},
		{"an old driver is asked again without MIG", `if [ $new ]; then echo 'Field "mig.mode.current" is not a valid field to query.'; exit 2; fi; echo "0, Tesla P100, 0, 1, 30.00"`, ""},
		{"no utilisation", `echo "0, NVIDIA A100, [N/A], 1, 50.00, Disabled"`, "utilisation is [N/A]"},
		{"MIG", `echo "0, NVIDIA A100, [N/A], 1, 50.00, Enabled"`, "MIG mode"},
		{"no device", `echo "No devices were found"; exit 6`, "No devices were found"},
		{"a driver that does not fit", `echo "Failed to initialize NVML: Driver/library version mismatch" >&2; exit 18`, "version mismatch"},
		{"a tool that dies", `kill -9 $$`, "timed out"},
		{"a tool that hangs", `exec tail -f /dev/null --pid=$PPID`, "timed out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.SetNvidiaSMI(smi + c.body)
			e := b.look(machine("i", 1))
			why := e.Facts.Unreadable["cards"]
			if c.want == "" && (why != "" || len(e.Facts.Cards) != 1 || e.Facts.Cards[0].Utilization == nil) {
				t.Errorf("cards %+v, unreadable %q", e.Facts.Cards, why)
			}
			if !strings.Contains(why, c.want) {
				t.Errorf("unreadable %q, want %q", why, c.want)
			}
			if !e.Facts.ProcessesRead {
				t.Error("the processes were not read")
			}
		})
	}
}

func TestHangingToolIsNotCalledForEver(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", s.Access())
	for n, want := range []string{"", "", "earlier calls have not come back"} {
		why := ""
		for range 20 { // whoever else looks at this machine calls it now and then
			if why = b.look(machine("i", 1)).Facts.Unreadable["cards"]; (why == "") == (want == "") {
				break
			}
		}
		if (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("with %d calls hanging: unreadable %q", n, why)
		}
		work(t, "--query-gpu=index,name,utilization.gpu,memory.used,power.draw")
	}
}
