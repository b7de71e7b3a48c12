package boxrun

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func at(unix int64) time.Time { return time.Unix(unix, 0) }

func read(t *testing.T, home, id string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, ".curfew/runs", id))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestARunFileTellsOfTheRun(t *testing.T) {
	home := t.TempDir()
	r, err := Create(home, "llama 7b/中", "stop", at(1796071819))
	if err != nil {
		t.Fatal(err)
	}
	begin := regexp.MustCompile(fmt.Sprintf(`^start=1796071819 pid=%d( pid_start=\d+)? then=stop\n$`, os.Getpid()))
	if got := read(t, home, r.ID); !begin.MatchString(got) || r.ID != "llama-7b" {
		t.Errorf("%s begins with %q", r.ID, got)
	}
	if err := r.Began(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if err := r.End(3, "epoch 3\n完成", at(1796071860)); err != nil {
		t.Fatal(err)
	}
	end := regexp.MustCompile(fmt.Sprintf(`\nchild=%d( child_start=\d+)?\nend=1796071860 exit=3 said=(\S+)\n$`, os.Getpid()))
	m := end.FindStringSubmatch(read(t, home, r.ID))
	if m == nil {
		t.Fatalf("it ends with %q", read(t, home, r.ID))
	}
	if said, err := base64.StdEncoding.DecodeString(m[2]); err != nil || string(said) != "epoch 3\n完成" {
		t.Errorf("it says %q, %v", said, err)
	}
	if info, err := os.Stat(filepath.Join(home, ".curfew/runs", r.ID)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	t.Run("of one name each has its own", func(t *testing.T) {
		var last *File
		for _, want := range []string{"llama-7b-2", "llama-7b-3"} {
			if last, err = Create(home, "llama-7b", "", at(1796071900)); err != nil {
				t.Fatal(err)
			}
			if last.ID != want || strings.Contains(read(t, home, want), "then") {
				t.Errorf("%s, want %s: %q", last.ID, want, read(t, home, last.ID))
			}
		}
		if err := last.Remove(); err != nil {
			t.Error(err)
		}
		if files, err := os.ReadDir(Folder(home)); err != nil || len(files) != 2 {
			t.Errorf("%d files are left, %v", len(files), err)
		}
	})
}

func TestWhereNothingCanBeWrittenThereIsNoFile(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".curfew"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Create(home, "x", "", at(1)); err == nil {
		t.Errorf("got %+v", r)
	}
	if _, err := Create("", "x", "", at(1)); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("without a home: %v", err)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"python", "-u", "src/train.py", "--epochs", "3"}, "train.py"},
		{[]string{"bash", "run.sh"}, "run.sh"},
		{[]string{"/usr/bin/torchrun", "--nproc=2", "-m", "pkg"}, "torchrun"},
	} {
		if got := Name(c.args); got != c.want {
			t.Errorf("%q is called %s, want %s", c.args, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"..": "run", "训练": "run", ".hidden": "hidden", "a b": "a-b", strings.Repeat("x", 100): strings.Repeat("x", 60),
	} {
		if got := id(name); got != want {
			t.Errorf("id of %q is %q, want %q", name, got, want)
		}
	}
}

func TestTheLastLinesAreWhatAPersonSaw(t *testing.T) {
	long := strings.Repeat("训", 1000)
	for _, c := range []struct{ name, log, want string }{
		{"plain", "a\nb\n\n", "a\nb"},
		{"of a progress bar the last state", "epoch 1\n 10%\r 50%\r100%\ndone\n", "epoch 1\n100%\ndone"},
		{"windows lines", "a\r\nb\r\n", "a\nb"},
		{"colours", "\x1b[31mred\x1b[0m\x07\n", "red"},
		{"long lines", "first\n" + long + "\nlast\n", "last"},
		{"one long line", long, strings.Repeat("训", 341)},
		{"nothing", "", ""},
		{"no text", "\xff\xfea\n", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			log := Watch(file, nil)
			if err := os.WriteFile(file, []byte(c.log), 0o600); err != nil {
				t.Fatal(err)
			}
			got := log.Said()
			if got != c.want || len(got) > 1024 || !utf8.ValidString(got) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
