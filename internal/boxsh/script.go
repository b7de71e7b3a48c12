package boxsh

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// Script is what one shell is to do, for at most a time.
type Script struct {
	Body string
	// Timeout is by the watch of whoever runs it. The script's own is slower, and ends it
	// where nobody can reach it any more.
	Timeout time.Duration
}

// watchSlack is by how much the script's own watch is slower.
const watchSlack = 5 * time.Second

// tethered is the script for a standard input that ends only with the connection:
// everything is killed then, and when the time is over. Whoever is killed belongs to
// the process group that a login makes.
func (s Script) tethered() []byte {
	return []byte("{\nexec 3<&0 </dev/null 2>/dev/null\n" + s.watch() +
		"( cat <&3; kill -9 0 ) >/dev/null &\ncurfew_cord=$!\nexec 3<&-\n" +
		"(\n" + s.Body + "\n) 2>&1\ncurfew_status=$?\n" +
		"kill $curfew_cord\nexit $curfew_status\n}\n")
}

// alone is the script for a shell of this machine, whose process group is killed by
// whoever started it.
func (s Script) alone() []byte {
	return []byte("{\nexec </dev/null 2>/dev/null\n" + s.watch() + "(\n" + s.Body + "\n) 2>&1\nexit\n}\n")
}

// watch starts what kills the process group when the time is over, wherever there is
// no program called timeout, and although nobody can reach it any more. It ends soon
// after the shell that started it.
func (s Script) watch() string {
	return fmt.Sprintf("( n=0; while [ $n -lt %d ]; do sleep 1; kill -0 $$ || exit; n=$((n+1)); done; kill -9 0 ) >/dev/null 3<&- &\n",
		int((s.Timeout+watchSlack)/time.Second)+1)
}

// LoginShell is the body of a script that gives a text to a login shell: to the named
// one, or where none is named the user's own if its language is that of sh. The text
// comes by a descriptor, so that no command line shows it, and has nothing to read.
func LoginShell(shell, text string) string {
	choose := "case $SHELL in */bash|*/zsh|*/ksh) ;; *) SHELL=/bin/sh;; esac\n"
	if shell != "" {
		choose = "SHELL=" + shell + "\n"
	}
	end := Mark()
	return choose + "exec \"$SHELL\" -lc 'curfew_script=$(cat <&4); exec 4<&-; eval \"$curfew_script\"' 4<<'" + end + "'\n" +
		text + "\n" + end
}

// Mark is a word that nothing inside can know beforehand.
func Mark() string { return "curfew-" + rand.Text() }

// Word quotes what the shell is to take as it stands.
func Word(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
