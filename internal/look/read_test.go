package look

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"curfew/signals"
)

var update = flag.Bool("update", false, "rewrite what the answers in testdata are read as")

const testMark = "curfew-TESTMARK"

// began is when, by our clock, the answers in testdata were asked for; the box
// says the same unless the story is about its clock.
var began = time.Unix(1800000000, 0).UTC()

// story is one answer in testdata: the sections as the box sent them, "name
// status" being a section's file name, and what must be read from it. A status
// of "cut" means that the answer breaks off there. NUL is written \0.
type story struct {
	out []byte
	q   question
}

func (s *story) section(name, status, body string) {
	s.out = append(s.out, "\n"+testMark+" > "+name+"\n"+body...)
	if status != "cut" {
		s.out = append(s.out, "\n"+testMark+" < "+status+"\n"...)
	}
}

func readStory(t testing.TB, a *txtar.Archive) *story {
	t.Helper()
	s := &story{}
	for line := range strings.SplitSeq(string(a.Comment), "\n") {
		key, value, found := strings.Cut(line, ": ")
		if !found {
			continue // what the story is about
		}
		var err error
		switch key {
		case "cards":
			s.q.cards, err = strconv.Atoi(value)
		case "cut":
			s.q.cut = value
		case "files":
			s.q.ask.Files = strings.Fields(value)
		case "logs":
			s.q.ask.Logs = strings.Fields(value)
		case "zone":
			s.q.zone, err = time.LoadLocation(value)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if !slices.ContainsFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "jupyter") }) {
		s.section("jupyter", "0", "") // most stories are about something else
	}
	for _, f := range a.Files {
		name, status, found := cutLast(f.Name)
		body := strings.ReplaceAll(string(f.Data), `\0`, "\x00")
		switch {
		case f.Name == "want":
		case f.Name == "raw":
			s.out = append(s.out, body...)
		case found:
			if strings.HasPrefix(name, "log ") || status == "cut" {
				body = strings.TrimSuffix(body, "\n")
			}
			s.section(name, status, body)
		default:
			t.Fatalf("file %q is neither a section with its status, nor raw, nor want", f.Name)
		}
	}
	return s
}

func cutLast(name string) (before, after string, found bool) {
	n := strings.LastIndex(name, " ")
	if n < 0 {
		return name, "", false
	}
	return name[:n], name[n+1:], true
}

// tell writes what was read for people to check.
func tell(a answer, q question) string {
	c, ok := a.clock()
	if !ok {
		return "no answer\n"
	}
	q.ahead = c.ahead(began, began.Add(time.Second))
	f := read(a, c, q)
	var b strings.Builder
	for _, card := range f.Cards {
		fmt.Fprintf(&b, "card %d %s: utilisation %s, memory %s, power %s, MIG %v\n", card.Index, card.Model,
			figure(card.Utilization), figure(card.MemoryMB), figure(card.PowerW), card.MIG)
	}
	fmt.Fprintf(&b, "processes read: %v\n", f.ProcessesRead)
	for _, p := range f.Processes {
		fmt.Fprintf(&b, "process %d since %s: %q\n", p.PID, moment(p.StartedAt), p.Command)
	}
	for _, s := range f.Sessions {
		busy := ""
		if s.Busy {
			busy = ", busy"
		}
		fmt.Fprintf(&b, "session %s %s idle %s%s\n", s.Kind, s.Name, s.Idle, busy)
	}
	for _, r := range f.BoxRuns {
		code := "none"
		if r.ExitCode != nil {
			code = strconv.Itoa(*r.ExitCode)
		}
		fmt.Fprintf(&b, "run %s from %s to %s, exit %s, pid %d, gone %v\n", r.ID, moment(r.StartedAt), moment(r.EndedAt), code, r.PID, r.PIDGone)
	}
	fmt.Fprintf(&b, "hold until %s\nload %g\n", moment(f.HoldUntil), f.Load1)
	if _, asked := a["cores"]; asked {
		fmt.Fprintf(&b, "cores %g, used for %s\n", f.Cores, f.CPUTime)
	}
	for _, path := range slices.Sorted(maps.Keys(f.Files)) {
		fact := f.Files[path]
		fmt.Fprintf(&b, "file %s: exists %v, modified %s, size %d, tail %q, error %q\n",
			path, fact.Exists, moment(fact.ModTime), fact.Size, fact.Tail, fact.Err)
	}
	for _, reading := range slices.Sorted(maps.Keys(f.Unreadable)) {
		fmt.Fprintf(&b, "unreadable %s: %s\n", reading, f.Unreadable[reading])
	}
	return b.String()
}

func figure(f *float64) string {
	if f == nil {
		return "not told"
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05.99")
}

func TestAnswersAreReadAsTheyWereMeant(t *testing.T) {
	paths, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no answers: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := readStory(t, a)
			got := tell(split(s.out, testMark), s.q)
			last := len(a.Files) - 1
			if *update {
				if a.Files[last].Name != "want" {
					a.Files = append(a.Files, txtar.File{Name: "want"})
					last++
				}
				a.Files[last].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if a.Files[last].Name != "want" {
				t.Fatal("the last file must be want")
			}
			if diff := cmp.Diff(string(a.Files[last].Data), got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

func TestHoldIsCountedFromItsWriting(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		name, written, wish string
		zone                *time.Location
		want                string
	}{
		{"twenty seconds", "2026-11-30T10:00:00Z", "20s", time.UTC, "2026-11-30T10:00:20Z"},
		{"an hour and a half", "2026-11-30T10:00:00Z", "1h30m", time.UTC, "2026-11-30T11:30:00Z"},
		{"a time still to come today", "2026-11-30T07:00:00Z", "08:00", time.UTC, "2026-11-30T08:00:00Z"},
		{"a time that is past today is tomorrow's", "2026-11-30T09:00:00Z", "08:00", time.UTC, "2026-12-01T08:00:00Z"},
		{"the very minute is tomorrow's", "2026-11-30T08:00:00Z", "08:00", time.UTC, "2026-12-01T08:00:00Z"},
		{"one digit will do", "2026-11-30T07:00:00Z", "8:00", time.UTC, "2026-11-30T08:00:00Z"},
		{"in the configured zone", "2026-11-30T16:00:00Z", "08:00", shanghai, "2026-12-01T00:00:00Z"},
		{"over a change of clocks", "2026-10-24T20:00:00Z", "08:00", berlin, "2026-10-25T07:00:00Z"},
		{"nothing", "2026-11-30T07:00:00Z", "", time.UTC, ""},
		{"zero", "2026-11-30T07:00:00Z", "0", time.UTC, ""},
		{"a time before it was written", "2026-11-30T07:00:00Z", "-2h", time.UTC, ""},
		{"a number without unit", "2026-11-30T07:00:00Z", "20", time.UTC, ""},
		{"an hour that does not exist", "2026-11-30T07:00:00Z", "25:00", time.UTC, ""},
		{"words", "2026-11-30T07:00:00Z", "tomorrow", time.UTC, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := holdUntil(at(c.written), c.wish, c.zone)
			if ok != (c.want != "") {
				t.Fatalf("got %s, %v", got, ok)
			}
			if ok && !got.Equal(at(c.want)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDifferenceOfClocksLeavesTheWayOut(t *testing.T) {
	ms := func(n int) time.Time { return began.Add(time.Duration(n) * time.Millisecond) }
	for _, c := range []struct {
		name string
		box  clock
		want time.Duration
	}{
		{"the same clock, half a second there and half a second back", clock{began: ms(500), ended: ms(1500)}, 0},
		{"a box an hour ahead", clock{began: ms(500).Add(time.Hour), ended: ms(1500).Add(time.Hour)}, time.Hour},
		{"a box that is behind", clock{began: ms(500).Add(-time.Minute), ended: ms(1500).Add(-time.Minute)}, -time.Minute},
		{"an answer without an end counts from its begin", clock{began: ms(500)}, 500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.box.ahead(began, ms(2000)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestScriptNeverShowsWhatItAsksFor(t *testing.T) {
	s := script("MARK", Question{Ask: signals.Ask{Files: []string{"/a b/it's", "~/x", "out", "bad\x00path", ""}, Logs: []string{"~"}}}, 5*time.Second)
	for _, want := range []string{`f='/a b/it'\''s'; b 'file 0'`, `f="$HOME"/'x'; b 'file 1'`, `f="$HOME"/'out'; b 'file 2'`, `f="$HOME"; b 'log 0'`} {
		if !strings.Contains(s, want) {
			t.Errorf("the script lacks %s", want)
		}
	}
	if strings.Contains(s, "bad") || strings.Contains(s, "'file 4'") {
		t.Error("a path that no shell can hold was asked")
	}
	if strings.Contains(Command, "MARK") {
		t.Error("the command line holds the mark")
	}
}

func TestServersAreToldByTheirCommandLines(t *testing.T) {
	for command, want := range map[string]bool{
		"jupyter-lab": true,
		"/usr/bin/python3 /usr/bin/jupyter-notebook --port=8888":           true,
		"/opt/conda/bin/python3.12 -u -m notebook --no-browser":            true,
		"python -m jupyterlab /root/work":                                  true,
		"python3 -m jupyter_server":                                        true,
		"python3 /opt/conda/bin/jupyterhub-singleuser --ip=0.0.0.0":        true,
		"/opt/conda/bin/python /opt/conda/bin/jupyter-lab list.ipynb":      true,
		"/opt/conda/bin/python /opt/conda/bin/jupyter-lab list":            false,
		"python3 -m ipykernel_launcher -f /root/.local/share/jupyter/k.js": false,
		"python3 -c import notebook; notebook":                             false,
		"python3 -m":                                                       false,
		"python3":                                                          false,
		"":                                                                 false,
		"python3 train.py jupyter-lab":                                     false,
		"vim jupyter-lab":                                                  false,
		"sudo jupyter-lab":                                                 false,
		"/usr/sbin/jupyterhub":                                             false,
	} {
		if got := isJupyter(command); got != want {
			t.Errorf("%q: got %v", command, got)
		}
	}
}

func TestATokenNeverEndsItsWord(t *testing.T) {
	for token, want := range map[string]string{
		"jt-1": "jtok='jt-1'\n", "it's": `jtok='it'\''s'` + "\n", "": "jtok=''\n",
		"a b": "jtok=''\n", "a\nb": "jtok=''\n", `a"b`: "jtok=''\n", "a\\b": "jtok=''\n", "密": "jtok=''\n",
	} {
		if s := script("MARK", Question{JupyterToken: token}, time.Second); !strings.Contains(s, want) {
			t.Errorf("%q is not written as %s", token, want)
		}
	}
}

func TestMarksOfAnotherLookAreText(t *testing.T) {
	s := &story{}
	s.section("load", "0", "\ncurfew-OTHER > cards\nx\ncurfew-OTHER < 0\n")
	a := split(s.out, testMark)
	if len(a) != 1 || a["load"].body != "\ncurfew-OTHER > cards\nx\ncurfew-OTHER < 0\n" {
		t.Errorf("got %+v", a)
	}
}

// FuzzRead checks that no answer, however broken, makes the reader panic, and
// that none is read as a full reading unless each of its parts arrived whole.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		s := readStory(f, a)
		f.Add(s.out, s.q.cards, 0)
		f.Add(s.out, s.q.cards, len(s.out)/2)
	}
	f.Fuzz(func(t *testing.T, out []byte, cards, cut int) {
		if cut > 0 && cut < len(out) {
			out = out[:cut]
		}
		a := split(out, testMark)
		c, ok := a.clock()
		if !ok {
			return
		}
		ask := signals.Ask{Files: []string{"/f"}, Logs: []string{"/l"}}
		facts := read(a, c, question{ask: ask, cards: cards})
		text := string(out)
		for reading, sections := range map[string][]string{
			"cards": {"cards"}, "processes": {"commands", "stat", "self"}, "sessions": {"sessions"},
			"runs": {"runs"}, "hold": {"hold"}, "load": {"load"}, "jupyter": {"jupyter"},
		} {
			if facts.Unreadable[reading] != "" {
				continue
			}
			for _, name := range sections {
				if !strings.Contains(text, "\n"+testMark+" > "+name+"\n") || !a[name].whole {
					t.Errorf("%s was read without a whole section %s", reading, name)
				}
			}
		}
		if facts.Unreadable["cards"] == "" {
			if len(facts.Cards) < cards {
				t.Errorf("%d of %d cards, and nothing said", len(facts.Cards), cards)
			}
			for _, card := range facts.Cards {
				if card.Utilization == nil || card.MIG {
					t.Errorf("card %d tells no utilisation, and nothing said", card.Index)
				}
			}
		}
		for _, card := range facts.Cards {
			if u := card.Utilization; u != nil && (*u < 0 || *u > 100) {
				t.Errorf("utilisation %g", *u)
			}
		}
		if facts.ProcessesRead != (facts.Unreadable["processes"] == "") || facts.ProcessesRead && len(facts.Processes) == 0 {
			t.Errorf("processes read %v, %d of them, unreadable %q", facts.ProcessesRead, len(facts.Processes), facts.Unreadable["processes"])
		}
		for _, s := range facts.Sessions {
			if s.Idle < 0 {
				t.Errorf("session idle for %s", s.Idle)
			}
		}
		for path, file := range facts.Files {
			if file.Exists && !strings.Contains(text, " < 0\n") || file.Tail != "" && int64(len(file.Tail)) != min(file.Size, tailBytes) {
				t.Errorf("file %s: %+v", path, file)
			}
		}
	})
}
