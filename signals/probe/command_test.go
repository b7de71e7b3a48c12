package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals/probe"
)

// askCommand asks a command in an environment of its own.
func askCommand(t *testing.T, text string, i fleet.Instance) fleet.Evidence {
	t.Helper()
	return look(t, source(t, probe.Options{
		Command: command(t, text), Timeout: time.Minute, Env: []string{"PATH=/usr/bin:/bin", "HOME=/nowhere"},
		Secrets: func() []string { return []string{token} },
	}), i)
}

func TestWhatACommandAnswers(t *testing.T) {
	busy, idle, unknown := fleet.Busy, fleet.Idle, fleet.Unknown
	for _, c := range []struct {
		name, command string
		activity      fleet.Activity
		told          string
	}{
		{"busy", "echo busy 3 jobs", busy, "probe queue says busy: 3 jobs"},
		{"idle", "echo IDLE", idle, "probe queue says idle"},
		{"as JSON", `printf '{"activity":"busy","why":"3 jobs"}'`, busy, "probe queue says busy: 3 jobs"},
		{"with a word beside it", "echo 'warning: old' >&2; echo idle", idle, "probe queue says idle"},
		{"and fails", "echo idle; echo no such partition >&2; exit 3", unknown, "the command ended with status 3: no such partition"},
		{"and fails without a word", "echo idle; false", unknown, "the command ended with status 1"},
		{"with what is not there", "curfew-no-such-command 2>/dev/null", unknown, "the command ended with status 127"},
		{"and tells the token", "echo " + token + " >&2; exit 1", unknown, "the command ended with status 1: <secret>"},
		{"and dies", "kill -9 $$", unknown, "it could not be asked: signal: killed"},
		{"nothing", "true", unknown, "the answer is empty"},
		{"something else", "echo 0", unknown, "the answer is neither busy nor idle: 0"},
		{"without end", "while :; do echo idle; done", unknown, "the answer is longer than 64 KB"},
		{"and leaves something behind", "tail -f /dev/null & echo idle", unknown, "it could not be asked: it left a process behind that holds its output"},
		{"in an environment of its own", `[ "$HOME $PROBE_TOKEN" = "/nowhere " ] && echo idle`, idle, "probe queue says idle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PROBE_TOKEN", token)
			e := askCommand(t, c.command, instance("a"))
			if said := told(t, e.Reason); e.Activity != c.activity || said != c.told {
				t.Errorf("got %s: %s\nwant %s: %s", e.Activity, said, c.activity, c.told)
			}
		})
	}
}

func TestACommandThatHangsEndsWithAllThatItStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	s := source(t, probe.Options{Timeout: time.Second, Command: command(t,
		"trap '' TERM HUP INT; (trap '' TERM; exec tail -f /dev/null) & echo $$ $! >"+pids+"; echo idle; wait")})
	began := time.Now()
	e := look(t, s, instance("a"))
	if took := time.Since(began); took < time.Second || took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if e.Activity != fleet.Unknown || told(t, e.Reason) != "no answer within 1s" {
		t.Errorf("got %s: %s", e.Activity, told(t, e.Reason))
	}
	text, err := os.ReadFile(pids)
	if err != nil || len(strings.Fields(string(text))) != 2 {
		t.Fatalf("started: %q, %v", text, err)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(5 * time.Second); alive(n); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Errorf("process %d lives on", n)
				break
			}
		}
	}
}

// hostile are names by which somebody tries to be read as shell.
func hostile(folder string) []string {
	touch := "touch " + folder + "/harm"
	return []string{
		"'; " + touch + "; '", "\"; " + touch + "; \"", "$(" + touch + ")", "`" + touch + "`", "; " + touch + " #", "\n" + touch + "\n",
		"\\'; " + touch + "; \\'", "${IFS}&&" + touch, "}\"; " + touch + "; \"${", "* ? [a-z]", "-n", "--help", " a  b ", "实验", "a\\", "'", "\"", "%s%n", "~",
	}
}

// whole is a command that says what it was given, whole and as one word.
const whole = `[ {{.Name}} = "{{.Name}}" ] || exit 4; x=$(printf %s {{.Name}}); y="$(printf %s {{.Name}}; echo x)"; printf %s {{.Name}} >FOLDER/whole; ` +
	"z=`printf %s {{.Name}}`; set -- {{.Name}}; f() { printf %s {{.Name}} >FOLDER/inside; }; f other; [ $# = 1 ] && [ \"$x\" = \"$z\" ] && [ \"$y\" = \"{{.Name}}x\" ] && echo busy"

func TestANameIsOneWordWhateverIsInIt(t *testing.T) {
	for n, name := range hostile("FOLDER") {
		t.Run(fmt.Sprint(n), func(t *testing.T) { harmless(t, name) })
	}
}

func TestAnyNameIsOneWord(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many shells")
	}
	left := 25 // a shell each
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune("'\"`$(){};&|\\\n \t#*?!~-ab实")), 1, 12, -1).Draw(r, "name")
		if left > 0 {
			left--
			harmless(t, name)
		}
	})
}

// harmless asks about an instance of a name, and looks what became of it.
func harmless(t *testing.T, name string) {
	t.Helper()
	folder := t.TempDir()
	name = strings.ReplaceAll(name, "FOLDER", folder)
	i := instance("a")
	i.Name = name
	e := askCommand(t, strings.ReplaceAll(whole, "FOLDER", folder), i)
	trailing := strings.TrimRight(name, "\n") != name // $(…) drops it, of any text
	if want := fleet.Busy; e.Activity != want && !trailing {
		t.Errorf("%q: %s: %s", name, e.Activity, told(t, e.Reason))
	}
	for _, file := range []string{"whole", "inside"} {
		if got, err := os.ReadFile(filepath.Join(folder, file)); err != nil || string(got) != name {
			t.Errorf("%q is %q %s, %v", name, got, file, err)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "harm")); err == nil {
		t.Errorf("%q did harm", name)
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
