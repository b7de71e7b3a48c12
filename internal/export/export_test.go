package export_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/internal/boxsh"
	"curfew/internal/export"
	"curfew/internal/sshx"
	"curfew/internal/sshx/sshdtest"
	"curfew/internal/text"
	"curfew/signals/ssh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// long is the time-out of exports that are not about it.
const long = time.Minute

// box is an instance with results in it: a real login, a real disk.
type box struct {
	t      *testing.T
	server *sshdtest.Server
	proxy  *sshdtest.Proxy
	out    string // what is to be exported
	to     string // where to
	here   bool
	began  time.Time // the run
}

func newBox(t *testing.T, o sshdtest.Options) *box {
	t.Helper()
	b := &box{t: t, server: sshdtest.Start(t, o)}
	b.proxy = sshdtest.NewProxy(t, b.server.Access())
	b.fill()
	return b
}

// newHere is the machine that curfew itself runs in.
func newHere(t *testing.T) *box {
	t.Helper()
	b := &box{t: t, here: true}
	b.fill()
	return b
}

func (b *box) fill() {
	b.t.Helper()
	dir := b.t.TempDir()
	b.out, b.to = filepath.Join(dir, "out"), filepath.Join(dir, "to")
	b.began = time.Now().Add(-time.Hour)
	for _, d := range []string{b.out, b.to} {
		if err := os.Mkdir(d, 0o700); err != nil {
			b.t.Fatal(err)
		}
	}
	b.write("model.safetensors", strings.Repeat("weights ", 100_000))
	b.write("a name\nof two lines.safetensors", "more weights")
	b.write("log.txt", "loss 0.1\n")
}

func (b *box) write(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.out, name), []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// age makes files older than the run.
func (b *box) age(names ...string) {
	b.t.Helper()
	old := b.began.Add(-time.Hour)
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(b.out, name), old, old); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *box) instance() fleet.Instance {
	return fleet.Instance{
		Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "i-1"}, Boot: "b1", Name: "exp $(touch /tmp/x) 'it' is",
		State: fleet.StateRunning, Here: b.here,
	}
}

func (b *box) exporter() *export.Exporter {
	x := &export.Exporter{Now: time.Now, Login: boxsh.Login{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + b.t.TempDir()}}}
	if b.here {
		return x
	}
	key, err := sshx.ParseKey(b.server.KeyPEM)
	if err != nil {
		b.t.Fatal(err)
	}
	x.Dialer = &sshx.Dialer{Key: key, Pins: sshx.NewMemoryPins()}
	x.Access = func(context.Context, fleet.Instance) (fleet.Access, error) {
		return b.proxy.Access(b.server.Access()), nil
	}
	return x
}

// expand puts the folders of the test into a command.
func (b *box) expand(command string) string {
	return strings.NewReplacer("OUT", b.out, "TO", b.to).Replace(command)
}

// job is an export; its require defaults to the weights.
func (b *box) job(run, verify string, require ...string) export.Job {
	e := fleet.Export{Run: b.expand(run), Verify: b.expand(verify), Timeout: long}
	for _, r := range require {
		e.Require = append(e.Require, b.expand(r))
	}
	return export.Job{Instance: b.instance(), Export: e, Since: b.began}
}

func (b *box) export(job export.Job) export.Result {
	b.t.Helper()
	res, err := b.exporter().Export(b.t.Context(), job)
	if err != nil {
		b.t.Fatalf("export: %v", err)
	}
	return res
}

// intact asks that nothing which was to be exported has gone.
func (b *box) intact() {
	b.t.Helper()
	for _, name := range []string{"model.safetensors", "a name\nof two lines.safetensors", "log.txt"} {
		if s, err := os.Stat(filepath.Join(b.out, name)); err != nil || s.Size() == 0 {
			b.t.Errorf("%q is not there any more: %v", name, err)
		}
	}
}

// failed asks for a failure with a code, and words that people are told.
func (b *box) failed(res export.Result, code fleet.Code, words ...string) {
	b.t.Helper()
	b.intact()
	if res.Why.Code != code {
		b.t.Fatalf("it ended with %s, want %s", say(b.t, res.Why), code)
	}
	for _, w := range words {
		if said := say(b.t, res.Why); !strings.Contains(said, w) {
			b.t.Errorf("%q does not say %q", said, w)
		}
	}
}

func say(t *testing.T, r fleet.Reason) string {
	t.Helper()
	words, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Code) + ": " + words.Reason(r, time.Now())
}

func (b *box) copied(names ...string) {
	b.t.Helper()
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(b.out, name))
		if err != nil {
			b.t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(b.to, "exp", name))
		if err != nil || string(got) != string(want) {
			b.t.Errorf("%q was not copied: %v", name, err)
		}
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed; make test-needs installs it", program)
	}
	t.Skipf("%s is not installed", program)
}

type recipe struct{ run, verify string }

// recipes reads those of the documentation, as they stand but for where the data is
// and where it goes, by program.
func recipes(t *testing.T) map[string]recipe {
	t.Helper()
	page, err := os.ReadFile("../../docs/howto/success-and-release.md")
	if err != nil {
		t.Fatal(err)
	}
	places := strings.NewReplacer("/root/out", "OUT", "oss:lab/{{.Name}}-{{.ID}}", "TO/exp", "store:lab/{{.Name}}-{{.ID}}", "TO/exp")
	found := map[string]recipe{}
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		var file struct {
			Policies []struct {
				Export struct {
					Run    string `yaml:"run"`
					Verify string `yaml:"verify"`
				} `yaml:"export"`
			} `yaml:"policies"`
		}
		if err := yaml.Unmarshal([]byte(block[1]), &file); err != nil {
			t.Fatal(err)
		}
		for _, p := range file.Policies {
			if program, _, ok := strings.Cut(p.Export.Run, " "); ok {
				found[program] = recipe{places.Replace(p.Export.Run), places.Replace(p.Export.Verify)}
			}
		}
	}
	if len(found) != 2 || found["rclone"].run != "rclone copy OUT TO/exp" || !strings.Contains(found["rsync"].verify, "OUT/ TO/exp/") {
		t.Fatalf("the documentation has the recipes %q", found)
	}
	return found
}

func TestWhatIsExportedIsCopiedAndProven(t *testing.T) {
	for name, r := range recipes(t) {
		for where, open := range map[string]func(*testing.T) *box{
			"over ssh":        func(t *testing.T) *box { return newBox(t, sshdtest.Options{}) },
			"on this machine": newHere,
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				needs(t, name)
				b := open(t)
				job := b.job(r.run, r.verify, "OUT/*.safetensors", "OUT/log.txt")
				for range 2 { // what was interrupted is done again
					if res := b.export(job); !res.Why.IsZero() || !res.Begun {
						t.Fatalf("it failed: %s", say(t, res.Why))
					}
				}
				b.intact()
				b.copied("model.safetensors", "a name\nof two lines.safetensors", "log.txt")
			})
		}
	}
}

func TestACopyThatDiffersIsNotProven(t *testing.T) {
	for name, r := range recipes(t) {
		t.Run(name, func(t *testing.T) {
			needs(t, name)
			b := newBox(t, sshdtest.Options{})
			spoilt := r.run + " && printf X | dd of=TO/exp/model.safetensors bs=1 seek=5 conv=notrunc 2>/dev/null"
			b.failed(b.export(b.job(spoilt, r.verify, "OUT/*.safetensors")), export.ReasonVerifyFailed, "exit status 1")
		})
	}
}

func TestAFullDiskAtTheTargetFails(t *testing.T) {
	for name, r := range recipes(t) {
		t.Run(name, func(t *testing.T) {
			needs(t, name)
			b := newBox(t, sshdtest.Options{})
			// In blocks of 512 bytes or a kilobyte: less than the weights have.
			res := b.export(b.job("ulimit -f 100; "+r.run, r.verify, "OUT/*.safetensors"))
			if res.Why.Code != export.ReasonFailed {
				t.Fatalf("it ended with %s", say(t, res.Why))
			}
			b.intact()
		})
	}
}

func TestWithoutTheRequiredFilesNothingIsRun(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	odd := "OUT/$(touch TO/ran)*[ab]?;touch TO/ran"
	for name, c := range map[string]struct {
		require []string
		code    fleet.Code
		words   string
	}{
		"none matches":              {[]string{"OUT/*.safetensors", "OUT/*.ckpt"}, export.ReasonMissing, "/out/*.ckpt"},
		"a folder is no file":       {[]string{"OUT"}, export.ReasonMissing, "there is no file"},
		"a command is a pattern":    {[]string{odd}, export.ReasonMissing, "$(touch"},
		"a quote ends nothing":      {[]string{"OUT/'; touch TO/ran; '"}, export.ReasonMissing, "'; touch"},
		"a backquote runs nothing":  {[]string{"OUT/`touch TO/ran`"}, export.ReasonMissing, "`touch"},
		"all are older":             {[]string{"OUT/*.txt"}, export.ReasonOld, "no file"},
		"a space is split nowhere":  {[]string{"OUT/model.safetensors OUT/log.txt"}, export.ReasonMissing, "there is no file"},
		"what is there comes first": {[]string{"OUT/*.safetensors", "OUT/log.txt"}, export.ReasonOld, "log.txt changed since the run began"},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.age("log.txt")
			b.failed(b.export(b.job("touch TO/ran", "", c.require...)), c.code, c.words)
			if _, err := os.Stat(filepath.Join(b.to, "ran")); err == nil {
				t.Error("a command was run")
			}
		})
	}
}

func TestNamesWithSpacesAndLineBreaksAreFound(t *testing.T) {
	for _, shell := range []string{"", "/bin/bash", "busybox"} {
		t.Run("sh is "+shell, func(t *testing.T) {
			o := sshdtest.Options{Shell: shell}
			if shell == "busybox" {
				needs(t, shell)
				o.Shell, _ = exec.LookPath(shell)
			}
			b := newBox(t, o)
			b.age("model.safetensors")
			res := b.export(b.job("touch TO/ran", "test -e TO/ran", "OUT/*.safetensors", "OUT/a name*", "OUT/a name\nof*"))
			if !res.Why.IsZero() {
				t.Fatal(say(t, res.Why))
			}
			b.write("[1]-$HOME", "x")
			if res := b.export(b.job("true", "", "OUT/[[]1]-$HOME")); !res.Why.IsZero() {
				t.Fatal(say(t, res.Why))
			}
		})
	}
}

func TestWhatAnInstanceIsCalledIsOneWord(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	res := b.export(b.job(`printf '%s|%s|%s\n' {{.Name}} "in {{.ID}} quotes" {{.Boot}} >TO/said`, "", "OUT/*.txt"))
	said, err := os.ReadFile(filepath.Join(b.to, "said"))
	if want := "exp $(touch /tmp/x) 'it' is|in i-1 quotes|b1\n"; !res.Why.IsZero() || err != nil || string(said) != want {
		t.Errorf("got %q, want %q (%v %s)", said, want, err, say(t, res.Why))
	}
	res = b.export(b.job("touch TO/{{.Labels.team}}", "", "OUT/*.txt"))
	b.failed(res, export.ReasonUnfilled, "Labels.team")
	if res.Begun {
		t.Error("it says that it was begun")
	}
}

func TestCommandsRunInALoginShell(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	if err := os.WriteFile(filepath.Join(b.server.Home, ".profile"), []byte("BUCKET=lab; export BUCKET\necho welcome\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	res := b.export(b.job(`test "$BUCKET" = lab && test -z "$(cat)" && env >TO/env && pwd >TO/pwd`, "", "OUT/*.txt"))
	if !res.Why.IsZero() {
		t.Fatal(say(t, res.Why))
	}
	env, err := os.ReadFile(filepath.Join(b.to, "env"))
	if err != nil || strings.Contains(strings.ToLower(string(env)), "curfew_") {
		t.Errorf("its environment has ours in it: %v\n%s", err, env)
	}
}

func TestACommandThatFailsIsToldWithItsLastWords(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	x := b.exporter()
	x.Secrets = func() []string { return []string{"sk-0123456789"} }
	noise := "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; "
	job := b.job(noise+`printf '\033[31mno such\r'; echo 'bucket: key sk-0123456789 denied' >&2; exit 7`, "false", "OUT/*.txt")
	res, err := x.Export(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	b.failed(res, export.ReasonFailed, "exit status 7", "bucket: key <secret> denied")
	if said := say(t, res.Why); strings.Contains(said, "sk-0123") || strings.ContainsAny(said, "\033\r\n") || len(said) > 300 {
		t.Errorf("this is not fit to be told: %q", said)
	}
}

// sleeper is a command with children of its own that leaves a trace while it lives.
func sleeper(mark string) string {
	return "echo halfway; sh -c 'sh -c \"exec sleep 987" + mark + "\" & wait' & sleep 987" + mark + "; touch TO/late"
}

// noneLeft waits until nothing of the command is there any more.
func noneLeft(t *testing.T, mark string) {
	t.Helper()
	for began := time.Now(); sleepers(t, mark) > 0; {
		if time.Since(began) > 20*time.Second {
			t.Fatal("what the export started goes on")
		}
		runtime.Gosched()
	}
}

func sleepers(t *testing.T, mark string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if line, err := os.ReadFile(f); err == nil && string(line) == "sleep\x00987"+mark+"\x00" {
			n++
		}
	}
	return n
}

// underWay waits until the command and its children are there.
func underWay(t *testing.T, mark string) {
	t.Helper()
	for began := time.Now(); sleepers(t, mark) < 2; {
		if time.Since(began) > 20*time.Second {
			t.Fatal("the export does not begin")
		}
		runtime.Gosched()
	}
}

func TestAnExportThatTakesTooLongIsKilledWithItsChildren(t *testing.T) {
	for where, open := range map[string]func(*testing.T) *box{
		"01": func(t *testing.T) *box { return newBox(t, sshdtest.Options{}) },
		"02": func(t *testing.T) *box { return newBox(t, sshdtest.Options{Shell: "/bin/bash"}) },
		"03": newHere,
	} {
		t.Run(where, func(t *testing.T) {
			b := open(t)
			job := b.job(sleeper(where), "", "OUT/*.safetensors")
			job.Export.Timeout = 2 * time.Second
			b.failed(b.export(job), export.ReasonTimedOut, "longer than 2", "halfway")
			noneLeft(t, where)
		})
	}
}

func TestAConnectionLostInTheMiddleEndsWhatWasBegun(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	done := make(chan export.Result)
	x, job := b.exporter(), b.job(sleeper("04"), "", "OUT/*.safetensors")
	go func() {
		res, err := x.Export(context.WithoutCancel(t.Context()), job)
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	underWay(t, "04")
	b.proxy.Break()
	res := <-done
	b.failed(res, export.ReasonLost, "halfway")
	if !res.Begun {
		t.Error("it says that it was not begun")
	}
	noneLeft(t, "04")
}

func TestALookSeesNothingOfAnExport(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	x, job := b.exporter(), b.job(sleeper("06"), "", "OUT/*.safetensors")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := x.Export(ctx, job)
		done <- err
	}()
	underWay(t, "06")
	look, err := ssh.New(ssh.Options{Key: b.server.KeyPEM, Access: x.Access, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := look.Look(t.Context(), []fleet.Instance{job.Instance})
	facts := seen[job.Instance.Ref][0].Facts
	if err != nil || !facts.ProcessesRead || len(facts.Processes) == 0 {
		t.Fatalf("no look: %+v, %v", seen, err)
	}
	for _, p := range facts.Processes {
		if strings.Contains(p.Command, "98706") || strings.Contains(p.Command, "curfew-export") {
			t.Errorf("a look sees %q", p.Command)
		}
	}
	cancel()
	<-done
	noneLeft(t, "06")
	if err := look.Close(); err != nil {
		t.Error(err)
	}
}

func TestAPeerThatFallsSilentIsNotWaitedFor(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	done := make(chan export.Result)
	x, job := b.exporter(), b.job(sleeper("05"), "", "OUT/*.safetensors")
	x.Dialer.KeepAlive = time.Second
	go func() {
		res, _ := x.Export(context.WithoutCancel(t.Context()), job)
		done <- res
	}()
	underWay(t, "05")
	b.proxy.Silence()
	b.failed(<-done, export.ReasonLost)
	b.proxy.Close()
	noneLeft(t, "05")
}

func TestADaemonThatEndsTellsNothing(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	x, job := b.exporter(), b.job(sleeper("07"), "", "OUT/*.safetensors")
	go func() {
		_, err := x.Export(ctx, job)
		done <- err
	}()
	underWay(t, "07")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	noneLeft(t, "07")
	b.intact()
}

func TestWhatCannotBeLoggedInToWasNotBegun(t *testing.T) {
	b := newBox(t, sshdtest.Options{})
	b.server.Lock(true)
	res := b.export(b.job("touch TO/ran", "", "OUT/*.txt"))
	b.failed(res, export.ReasonUnreachable, "login refused")
	if res.Begun {
		t.Error("it says that it was begun")
	}
}
