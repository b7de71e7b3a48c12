package doctor

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/policies"
)

var noon = time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)

// short gives results as level, code and what to do.
func short(rs ...Result) []string {
	var out []string
	for _, r := range rs {
		s := fmt.Sprintf("%s %s", r.Level, r.What.Code)
		if !r.Do.IsZero() {
			s += " " + string(r.Do.Code)
		}
		out = append(out, s)
	}
	return out
}

func TestClock(t *testing.T) {
	told := func(by string, off time.Duration) Told { return Told{By: by, Date: noon, At: noon.Add(off)} }
	for name, c := range map[string]struct {
		told []Told
		want string
	}{
		"nobody told the time":                     {nil, "warn doctor.clock-untold doctor.do-clock-untold"},
		"the answer of this second":                {[]Told{told("lab", 400*time.Millisecond)}, "ok doctor.clock-fine"},
		"a slow answer is no wrong clock":          {[]Told{told("lab", 20*time.Second)}, "ok doctor.clock-fine"},
		"an hour ahead":                            {[]Told{told("lab", time.Hour)}, "bad doctor.clock-ahead doctor.do-clock"},
		"an hour behind":                           {[]Told{told("lab", -time.Hour)}, "bad doctor.clock-behind doctor.do-clock"},
		"31 s ahead":                               {[]Told{told("lab", 32*time.Second)}, "bad doctor.clock-ahead doctor.do-clock"},
		"one server that is wrong outvotes nobody": {[]Told{told("wrong", -time.Hour), told("lab", time.Second)}, "ok doctor.clock-fine"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, short(Clock(c.told))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestZone(t *testing.T) {
	shanghai := time.FixedZone("Asia/Shanghai", 8*3600)
	for name, c := range map[string]struct {
		zone              *time.Location
		chosen, schedules bool
		want              string
	}{
		"a zone of the file":                      {shanghai, true, true, "ok doctor.zone"},
		"UTC that was meant":                      {time.UTC, true, true, "ok doctor.zone"},
		"UTC that nobody chose, and no schedules": {time.UTC, false, false, "ok doctor.zone"},
		"UTC that nobody chose, and schedules":    {time.UTC, false, true, "warn doctor.zone-utc doctor.do-zone"},
		"the machine's own zone":                  {shanghai, false, true, "ok doctor.zone"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, short(Zone(c.zone, c.chosen, c.schedules, noon))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestState(t *testing.T) {
	good := State{Path: "curfew.db", There: true, Folder: true, Writable: true, Mode: 0o600, Version: 3, Known: 3, Size: 1 << 20}
	with := func(change func(*State)) State {
		s := good
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state   State
		answers bool
		want    []string
	}{
		"sound":                               {good, false, []string{"ok doctor.state-fine"}},
		"not there yet":                       {State{Folder: true}, false, []string{"ok doctor.state-none"}},
		"not there, and nowhere to make it":   {State{}, false, []string{"bad doctor.state-folder doctor.do-state-rights"}},
		"not to be written to":                {with(func(s *State) { s.Writable = false }), false, []string{"bad doctor.state-read-only doctor.do-state-rights"}},
		"not to be read":                      {with(func(s *State) { s.Err, s.Writable = errors.New("no"), false }), false, []string{"bad doctor.state-unread doctor.do-state-rights"}},
		"no database":                         {with(func(s *State) { s.Err = errors.New("no") }), false, []string{"bad doctor.state-unread doctor.do-state-restore"}},
		"damaged":                             {with(func(s *State) { s.Problems = []string{"page 3"} }), false, []string{"bad doctor.state-damaged doctor.do-state-restore"}},
		"of an older curfew":                  {with(func(s *State) { s.Version = 2 }), false, []string{"ok doctor.state-older"}},
		"of a newer curfew":                   {with(func(s *State) { s.Version = 4 }), false, []string{"bad doctor.state-newer doctor.do-state-newer"}},
		"open to others":                      {with(func(s *State) { s.Mode = 0o644 }), false, []string{"ok doctor.state-fine", "warn doctor.state-open-to-others doctor.do-state-close"}},
		"held by the daemon that answers":     {with(func(s *State) { s.Held = true }), true, []string{"ok doctor.state-fine"}},
		"held by somebody who does not":       {with(func(s *State) { s.Held = true }), false, []string{"ok doctor.state-fine", "bad doctor.state-held doctor.do-state-held"}},
		"damaged, open to others and held on": {with(func(s *State) { s.Problems, s.Mode, s.Held = []string{"x"}, 0o660, true }), false, []string{"bad doctor.state-damaged doctor.do-state-restore", "warn doctor.state-open-to-others doctor.do-state-close", "bad doctor.state-held doctor.do-state-held"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, short(StateResults(c.state, c.answers)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDisk(t *testing.T) {
	for name, c := range map[string]struct {
		free uint64
		err  error
		want string
	}{
		"plenty":         {10 << 30, nil, "ok doctor.disk-free"},
		"little":         {100 << 20, nil, "warn doctor.disk-free doctor.do-disk"},
		"next to none":   {1 << 20, nil, "bad doctor.disk-full doctor.do-disk"},
		"not to be told": {0, errors.New("no"), "warn doctor.disk-unread"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, short(Disk("/var", c.free, c.err))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDaemon(t *testing.T) {
	good := ctl.Status{Version: "1", Now: noon, StartedAt: noon.Add(-time.Hour), LastPass: noon.Add(-time.Minute)}
	for name, c := range map[string]struct {
		change func(*ctl.Status)
		want   []string
	}{
		"at work":                        {func(*ctl.Status) {}, nil},
		"of another version":             {func(s *ctl.Status) { s.Version = "2" }, []string{"warn doctor.daemon-version doctor.do-daemon-restart"}},
		"without a pass for long":        {func(s *ctl.Status) { s.LastPass = noon.Add(-6 * time.Minute) }, []string{"bad doctor.daemon-stuck doctor.do-daemon-log"}},
		"never passed, and long since":   {func(s *ctl.Status) { s.LastPass = time.Time{} }, []string{"bad doctor.daemon-stuck doctor.do-daemon-log"}},
		"never passed, and just started": {func(s *ctl.Status) { s.LastPass, s.StartedAt = time.Time{}, noon.Add(-time.Second) }, nil},
		"cannot write":                   {func(s *ctl.Status) { s.DatabaseError = "disk full" }, []string{"bad doctor.daemon-database doctor.do-daemon-log"}},
		"did not reload":                 {func(s *ctl.Status) { s.LastReload = "bad" }, []string{"bad doctor.daemon-reload doctor.do-daemon-reload"}},
		"an account it cannot read": {func(s *ctl.Status) {
			s.Scopes = []policies.ScopeState{{At: noon}, {Failing: fleet.Because(ReasonDaemonNone, nil)}}
		}, []string{"bad doctor.daemon-unread"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			c.change(&s)
			if diff := cmp.Diff(append([]string{"ok doctor.daemon-runs"}, c.want...), short(Daemon(s, "1")...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAccount(t *testing.T) {
	failed := func(kind fleet.ErrorKind) Account {
		return Account{Name: "lab", Provider: "autodl", Opened: true, Step: StepList, Err: &fleet.Error{Op: "list", Kind: kind}}
	}
	for name, c := range map[string]struct {
		account Account
		want    []string
	}{
		"fine":                     {Account{Opened: true, Instances: 3}, []string{"ok doctor.account-fine"}},
		"fine, with a day's limit": {Account{Opened: true, Used: 10, Limit: 100}, []string{"ok doctor.account-fine", "ok doctor.account-budget"}},
		"nearly out of requests":   {Account{Opened: true, Used: 75, Limit: 100}, []string{"ok doctor.account-fine", "warn doctor.account-budget doctor.do-budget"}},
		"a secret that is nowhere": {Account{Err: errors.New("not set")}, []string{"bad doctor.account-bad doctor.do-credential"}},
		"a token that is refused":  {failed(fleet.Unauthorized), []string{"bad doctor.account-bad doctor.do-unauthorized"}},
		"too many requests":        {failed(fleet.RateLimited), []string{"bad doctor.account-bad doctor.do-rate-limited"}},
		"locked out":               {failed(fleet.Banned), []string{"bad doctor.account-bad doctor.do-banned"}},
		"no network":               {failed(fleet.Transient), []string{"bad doctor.account-bad doctor.do-network"}},
		"something else":           {failed(fleet.Other), []string{"bad doctor.account-bad doctor.do-report"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, short(AccountResults(c.account)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLook(t *testing.T) {
	reached := fleet.Facts{Reached: true}
	for name, c := range map[string]struct {
		source string
		seen   fleet.Evidence
		want   string
	}{
		"idle":                  {"ssh", fleet.Evidence{Activity: fleet.Idle, Facts: reached}, "ok doctor.signal-reached"},
		"reached, and not read": {"ssh", fleet.Evidence{Facts: reached}, "warn doctor.signal-unsure"},
		"not reached":           {"ssh", fleet.Evidence{}, "bad doctor.signal-failed doctor.do-signal-ssh"},
		"not reached otherwise": {"sim", fleet.Evidence{}, "bad doctor.signal-failed doctor.do-signal-look"},
		"told from outside":     {"probe:jobs", fleet.Evidence{Activity: fleet.Busy, Outside: true}, "ok doctor.signal-reached"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, short(Look(c.source, "exp-1", c.seen))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPing(t *testing.T) {
	for name, c := range map[string]struct {
		found   Bound
		answers bool
		want    string
	}{
		"free, and no daemon":       {PortFree, false, "ok doctor.ping-free"},
		"taken, and a daemon":       {PortTaken, true, "ok doctor.ping-daemon"},
		"free beside a daemon":      {PortFree, true, "bad doctor.ping-nobody doctor.do-ping-reload"},
		"taken, and no daemon":      {PortTaken, false, "bad doctor.ping-taken doctor.do-ping-taken"},
		"an address of nobody here": {PortRefused, false, "bad doctor.ping-refused doctor.do-ping-refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, short(Ping("127.0.0.1:1", c.found, nil, c.answers))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBox(t *testing.T) {
	for name, c := range map[string]struct {
		box  Box
		want []string
	}{
		"whole":                 {Box{Cards: "/usr/bin/nvidia-smi", Stop: "shutdown", Home: "/root", Writable: true}, []string{"ok doctor.box-cards", "ok doctor.box-stop", "ok doctor.box-home"}},
		"nothing is there":      {Box{}, []string{"warn doctor.box-no-cards doctor.do-box-cards", "warn doctor.box-no-stop doctor.do-box-no-stop", "bad doctor.box-no-home doctor.do-box-home"}},
		"a stop of nothing":     {Box{Cards: "x", Stop: "poweroff", Missing: []string{"poweroff"}, Writable: true}, []string{"ok doctor.box-cards", "bad doctor.box-stop-missing doctor.do-box-stop", "ok doctor.box-home"}},
		"a home of others only": {Box{Cards: "x", Stop: "shutdown", Home: "/"}, []string{"ok doctor.box-cards", "ok doctor.box-stop", "bad doctor.box-no-home doctor.do-box-home"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, short(BoxResults(c.box)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProgramsOfACommand(t *testing.T) {
	for command, want := range map[string][]string{
		"":                                   nil,
		"shutdown -h now":                    {"shutdown"},
		"/sbin/poweroff":                     {"/sbin/poweroff"},
		"sync; shutdown -h now":              {"sync", "shutdown"},
		"sync && sudo -n poweroff":           {"sync", "sudo", "poweroff"},
		"LANG=C systemctl poweroff || true":  {"systemctl"},
		"cd /tmp; echo bye | tee log":        {"tee"},
		"$(which shutdown) now":              nil,
		"if test -e /x; then halt; fi":       {"halt"},
		"nohup sh -c 'sleep 1; poweroff' &":  {"nohup", "sh"},
		"curl -X POST http://127.0.0.1/stop": {"curl"},
	} {
		if diff := cmp.Diff(want, Programs(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

func TestWhatIsBrokenDecides(t *testing.T) {
	rs := []Result{{Level: Fine}, {Level: Warn}, {Level: Warn}}
	if !Healthy(rs) || Count(rs, Warn) != 2 {
		t.Errorf("warnings alone: healthy %t, %d warnings", Healthy(rs), Count(rs, Warn))
	}
	if rs = append(rs, Result{Level: Bad}); Healthy(rs) {
		t.Error("healthy although something is broken")
	}
}
