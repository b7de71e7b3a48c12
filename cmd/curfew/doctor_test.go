package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/doctor"
	"curfew/notify/wecom/wecomtest"
	"curfew/providers/autodl/autodltest"
)

// surgery is a folder with a configuration, and doctor in it.
type surgery struct {
	t    *testing.T
	file string
	env  map[string]string
}

func newSurgery(t *testing.T, config string) *surgery {
	t.Helper()
	dir := t.TempDir()
	s := &surgery{t: t, file: filepath.Join(dir, "curfew.yaml"), env: map[string]string{"HOME": dir, "AUTODL_TOKEN": "tok-1", "WECOM_KEY": "key-1"}}
	s.write("curfew.yaml", config)
	return s
}

func (s *surgery) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.file), name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// examine runs doctor; no answer may hold a secret.
func (s *surgery) examine(args ...string) (int, string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(s.t.Context(), system{
		args: append([]string{"doctor", "--config", s.file}, args...), stdout: &stdout, stderr: &stderr,
		lookupEnv: func(name string) (string, bool) {
			v, ok := s.env[name]
			return v, ok
		},
		now: time.Now, user: func() string { return "wang" }, size: func() (int, int) { return 0, 0 },
	})
	for _, secret := range []string{"tok-1", "tok-other", "key-1", "key-other"} {
		if strings.Contains(stdout.String()+stderr.String(), secret) {
			s.t.Errorf("a secret is told:\n%s%s", stdout.String(), stderr.String())
		}
	}
	return code, stdout.String() + stderr.String()
}

// results runs doctor and gives what it says of one check, as level and code.
func (s *surgery) results(check string, args ...string) (int, []string) {
	s.t.Helper()
	code, out := s.examine(append(args, "--json")...)
	var e examined
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		s.t.Fatalf("no JSON: %v\n%s", err, out)
	}
	if e.OK != (code == exitFine) {
		s.t.Errorf("ok is %t, and it ended with %d", e.OK, code)
	}
	var says []string
	for _, r := range e.Results {
		if r.Check == check {
			says = append(says, string(r.Level)+" "+string(r.What.Code))
		}
	}
	return code, says
}

func (s *surgery) expect(check string, code int, want []fleet.Code, args ...string) {
	s.t.Helper()
	got, says := s.results(check, args...)
	var codes []fleet.Code
	for _, line := range says {
		_, c, _ := strings.Cut(line, " ")
		codes = append(codes, fleet.Code(c))
	}
	if got != code || !slices.Equal(codes, want) {
		s.t.Errorf("of the %s it says %v and ends with %d; want %v and %d", check, says, got, want, code)
	}
}

const simulated = `
timezone: Asia/Shanghai
state: sqlite:state/curfew.db
accounts: [{name: lab, provider: sim, world: world.yaml}]
signals: [{type: sim}]
notify: {channels: [{name: me, type: console}]}
`

const oneBox = `
accounts: [{name: lab}]
instances:
  - {id: sim-1, account: lab, name: exp-1}
`

// cloud starts the double of a platform whose clock is off.
func cloud(t *testing.T, off time.Duration) string {
	t.Helper()
	double := autodltest.New(autodltest.Options{Now: time.Now, Token: "tok-1"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		double.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		for _, p := range double.Problems() {
			t.Errorf("autodl double: %s", p)
		}
	})
	return server.URL
}

func platform(url string) string {
	return `
timezone: Asia/Shanghai
state: sqlite:state/curfew.db
accounts: [{name: lab, provider: autodl, token: {env: AUTODL_TOKEN}, base_url: "` + url + `"}]
signals: [{type: ssh}]
`
}

func TestDoctorReadsTheClockFromAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		off  time.Duration
		code int
		want fleet.Code
	}{
		"a clock that is right":      {0, exitFine, doctor.ReasonClockFine},
		"a clock an hour behind":     {time.Hour, exitFailed, doctor.ReasonClockBehind},
		"a clock an hour ahead":      {-time.Hour, exitFailed, doctor.ReasonClockAhead},
		"a clock that is 10 s ahead": {-10 * time.Second, exitFine, doctor.ReasonClockFine},
	} {
		t.Run(name, func(t *testing.T) {
			newSurgery(t, platform(cloud(t, c.off))).expect("clock", c.code, []fleet.Code{c.want})
		})
	}
}

func TestDoctorSaysWhatToDoAboutAToken(t *testing.T) {
	s := newSurgery(t, platform(cloud(t, 0)))
	s.env["AUTODL_TOKEN"] = "tok-other"
	s.expect("account", exitFailed, []fleet.Code{doctor.ReasonAccountBad})
	_, out := s.examine()
	if want := "put it into env AUTODL_TOKEN; docs/providers/autodl says how"; !strings.Contains(out, want) {
		t.Errorf("it does not say %q:\n%s", want, out)
	}
	delete(s.env, "AUTODL_TOKEN")
	if _, out := s.examine(); !strings.Contains(out, "AUTODL_TOKEN is not set") {
		t.Errorf("it does not say what is missing:\n%s", out)
	}
}

func TestDoctorReadsTheState(t *testing.T) {
	s := newSurgery(t, simulated)
	s.write("world.yaml", oneBox)
	s.expect("state", exitFine, []fleet.Code{doctor.ReasonStateNone})

	// A command that looks makes it.
	var out bytes.Buffer
	if code := run(t.Context(), system{
		args: []string{"ls", "--config", s.file}, stdout: &out, stderr: &out, lookupEnv: func(string) (string, bool) { return "", false },
		now: time.Now, user: func() string { return "wang" }, size: func() (int, int) { return 0, 0 },
	}); code != exitFine {
		t.Fatalf("ls ended with %d:\n%s", code, out.String())
	}
	s.expect("state", exitFine, []fleet.Code{doctor.ReasonStateFine})

	db := filepath.Join(filepath.Dir(s.file), "state", "curfew.db")
	if err := os.Chmod(db, 0o644); err != nil {
		t.Fatal(err)
	}
	s.expect("state", exitFine, []fleet.Code{doctor.ReasonStateFine, doctor.ReasonStateOpen})
	data, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	// From the third page on: the file still is a database, and its tables are not.
	for n := 8192; n < len(data); n++ {
		data[n] ^= 0x55
	}
	if err := os.WriteFile(db, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, says := s.results("state"); code != exitFailed || !slices.ContainsFunc(says, func(l string) bool { return strings.HasPrefix(l, "bad ") }) {
		t.Errorf("of a damaged state it says %v and ends with %d", says, code)
	}
}

func TestDoctorSaysThatAStateCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	s := newSurgery(t, simulated)
	s.write("world.yaml", oneBox)
	if err := os.Mkdir(filepath.Join(filepath.Dir(s.file), "state"), 0o500); err != nil {
		t.Fatal(err)
	}
	s.expect("state", exitFailed, []fleet.Code{doctor.ReasonStateFolder})
}

func TestDoctorSendsOnlyWhenAsked(t *testing.T) {
	sent := 0
	robot := wecomtest.New("key-1", time.Now, t.Errorf)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent++
		robot.ServeHTTP(w, r)
	}))
	defer server.Close()
	s := newSurgery(t, `
timezone: Asia/Shanghai
state: sqlite:state/curfew.db
accounts: [{name: lab, provider: sim, world: world.yaml}]
notify: {channels: [{name: wx, type: wecom, key: {env: WECOM_KEY}, base_url: "`+server.URL+`"}]}
`)
	s.write("world.yaml", oneBox)
	s.env["WECOM_KEY"] = "key-other"
	s.expect("channel", exitFine, []fleet.Code{doctor.ReasonChannelFine})
	if sent != 0 {
		t.Error("a message was sent that nobody asked for")
	}
	s.expect("channel", exitFailed, []fleet.Code{doctor.ReasonChannelRefused}, "--send")
	s.env["WECOM_KEY"] = "key-1"
	s.expect("channel", exitFine, []fleet.Code{doctor.ReasonChannelSent}, "--send")
	if sent != 2 {
		t.Errorf("%d messages were sent, want 2", sent)
	}
	s.expect("clock", exitFine, []fleet.Code{doctor.ReasonClockFine}, "--send")
	delete(s.env, "WECOM_KEY")
	s.expect("channel", exitFailed, []fleet.Code{doctor.ReasonChannelBad})
}

func TestDoctorLooksAtThisMachine(t *testing.T) {
	box := func(stop string) string {
		return `
timezone: Asia/Shanghai
state: sqlite:state/curfew.db
accounts:
  - name: own
    provider: machines
    machines: [{name: box-1, host: local, stop: "` + stop + `"}]
`
	}
	cards := func(t *testing.T, s *surgery) []string {
		t.Helper()
		_, says := s.results("box")
		return says[1:] // the first is of nvidia-smi, which the machine of the test may have
	}
	if says := cards(t, newSurgery(t, box("sync; sh -c true"))); !slices.Equal(says, []string{"ok doctor.box-stop", "ok doctor.box-home"}) {
		t.Errorf("of a whole machine it says %v", says)
	}
	s := newSurgery(t, box("sync && power-it-off-please"))
	if says := cards(t, s); !slices.Equal(says, []string{"bad doctor.box-stop-missing", "ok doctor.box-home"}) {
		t.Errorf("of a stop command that is not there it says %v", says)
	}
	s.env["HOME"] = filepath.Join(filepath.Dir(s.file), "nowhere")
	if says := cards(t, s); !slices.Equal(says, []string{"bad doctor.box-stop-missing", "bad doctor.box-no-home"}) {
		t.Errorf("of a home that is not there it says %v", says)
	}
}

func TestTheHolderOfAFileIsNamed(t *testing.T) {
	proc := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(proc, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lock := write("curfew.db.lock", "")
	info, err := os.Stat(lock)
	if err != nil {
		t.Fatal(err)
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	table := func(inode uint64) {
		t.Helper()
		write("locks", fmt.Sprintf("1: POSIX  ADVISORY  WRITE 77 08:01:%d 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 08:01:%d 0 EOF\n", inode, inode))
	}
	if got := holder(proc, lock); got != "" {
		t.Errorf("without a table of locks it names %q", got)
	}
	if table(inode + 1); holder(proc, lock) != "" {
		t.Errorf("of another file's holder it makes %q", holder(proc, lock))
	}
	if table(inode); holder(proc, lock) != "pid 4711" {
		t.Errorf("of a process without a name it makes %q", holder(proc, lock))
	}
	if err := os.Mkdir(filepath.Join(proc, "4711"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("4711/comm", "curfew\n")
	if got := holder(proc, lock); got != "curfew (pid 4711)" {
		t.Errorf("it names %q", got)
	}
}
