package export

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"curfew/internal/look"
)

// scriptCommand is the whole command line of what an export runs: the script comes
// on standard input, so that nothing of it can be seen, or taken for a training run,
// in a process list.
const scriptCommand = "exec " + look.ExportArgs

func scriptArgs() []string { return strings.Fields(look.ExportArgs) }

// script is what one shell is to do, for at most a time.
type script struct {
	body  string
	limit time.Duration
}

// tethered is the script for a standard input that ends only with the connection:
// everything is killed then, and when the time is over. Whoever is killed belongs to
// the process group that a login makes.
func (s script) tethered() []byte {
	return []byte("{\nexec 3<&0 </dev/null 2>/dev/null\n" + s.watch() +
		"( cat <&3; kill -9 0 ) >/dev/null &\ncurfew_cord=$!\nexec 3<&-\n" +
		"(\n" + s.body + "\n) 2>&1\ncurfew_status=$?\n" +
		"kill $curfew_cord\nexit $curfew_status\n}\n")
}

// alone is the script for a shell of this machine, whose process group is killed by
// whoever started it.
func (s script) alone() []byte {
	return []byte("{\nexec </dev/null 2>/dev/null\n" + s.watch() + "(\n" + s.body + "\n) 2>&1\nexit\n}\n")
}

// watch starts what kills the process group when the time is over, wherever there is
// no program called timeout, and although nobody can reach it any more. It ends soon
// after the shell that started it.
func (s script) watch() string {
	return fmt.Sprintf("( n=0; while [ $n -lt %d ]; do sleep 1; kill -0 $$ || exit; n=$((n+1)); done; kill -9 0 ) >/dev/null 3<&- &\n",
		int(s.limit/time.Second)+1)
}

// loginScript gives a command to a login shell: the user's own where its language is
// that of sh. It comes by a descriptor, so that no command line shows it, and has
// nothing to read.
func loginScript(command string) string {
	end := newMark()
	return "case $SHELL in */bash|*/zsh|*/ksh) ;; *) SHELL=/bin/sh;; esac\n" +
		"exec \"$SHELL\" -lc 'curfew_command=$(cat <&4); exec 4<&-; eval \"$curfew_command\"' 4<<'" + end + "'\n" +
		command + "\n" + end
}

// clockScript asks for the time inside.
func clockScript(mark string) string { return "printf '%s ' " + mark + "; date +%s" }

func readClock(out []byte, mark string) (time.Time, bool) {
	_, rest, ok := strings.Cut(string(out), mark+" ")
	line, _, _ := strings.Cut(rest, "\n")
	seconds, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	// A clock that tells whole seconds is half a second behind on average.
	return time.Unix(seconds, int64(time.Second/2)), ok && err == nil && seconds > 0
}

// The words for a pattern of files.
const (
	wordMissing = "missing" // it matches no regular file
	wordOld     = "old"     // none of those it matches changed since the run began
	wordThere   = "there"
)

// requireScript asks whether each pattern matches a regular file that changed since.
// A pattern is put in as a value, never as a part of the script: what stands in it is
// matched against names, and split at nothing.
func requireScript(mark string, patterns []string, since time.Time) string {
	var b strings.Builder
	// What changed in the second in which the run began, by a clock that is known to a
	// second, counts.
	from := int64(0)
	if !since.IsZero() {
		from = since.Unix() - 1
	}
	fmt.Fprintf(&b, "since=%d\n", from)
	b.WriteString(`IFS=
ask() {
	word=missing
	for f in $1; do
		[ -f "$f" ] || continue
		word=old
		t=$(stat -L -c %Y -- "$f" 2>/dev/null) || continue
		if [ "$t" -ge "$since" ]; then word=there; return; fi
	done
}
`)
	for n, p := range patterns {
		fmt.Fprintf(&b, "ask '%s'; if [ $word != there ]; then printf '%%s %%s %%s\\n' %s %d $word; exit 0; fi\n",
			strings.ReplaceAll(p, "'", `'\''`), mark, n)
	}
	fmt.Fprintf(&b, "printf '%%s %%s %%s\\n' %s 0 there", mark)
	return b.String()
}

func readRequired(out []byte, mark string) (n int, word string, ok bool) {
	_, rest, found := strings.Cut(string(out), mark+" ")
	line, _, whole := strings.Cut(rest, "\n")
	number, word, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(number)
	known := word == wordMissing || word == wordOld || word == wordThere
	return n, word, found && whole && err == nil && n >= 0 && known
}

// newMark is a word that nothing inside can know beforehand.
func newMark() string { return "curfew-" + rand.Text() }

// exited gives the status of a program that ended by itself with another than 0.
func exited(err error) (int, bool) {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode(), true
	}
	return 0, false
}
