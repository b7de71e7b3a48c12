package export

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"curfew/internal/boxsh"
)

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
		fmt.Fprintf(&b, "ask %s; if [ $word != there ]; then printf '%%s %%s %%s\\n' %s %d $word; exit 0; fi\n",
			boxsh.Word(p), mark, n)
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
