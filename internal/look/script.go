package look

import (
	"fmt"
	"strings"
	"time"
)

// Command is the whole command line of a look: the script comes on standard
// input, so that no name a person gave can be seen, or matched, in a process
// list. It also works where the login shell is not a POSIX one.
const Command = "exec " + lookArgs

// tailBytes is how much of a log's end is read.
const tailBytes = 4096

// script writes one look. nonce marks the sections of the answer: nothing inside
// the box can know it beforehand, so nothing printed there can be taken for a
// mark. tool is how long a single program may take.
func script(nonce string, q Question, tool time.Duration) string {
	var b strings.Builder
	ask := q.Ask
	fmt.Fprintf(&b, "n=%s\nsecs=%d\njtok=%s\n", nonce, max(1, int(tool/time.Second)), shellWord(sendable(q.JupyterToken)))
	b.WriteString(prologue)
	b.WriteString(serverTools)
	b.WriteString("look() {\n" + readings + serverReading)
	for n, path := range ask.Files {
		if askable(path) {
			fmt.Fprintf(&b, "f=%s; b 'file %d'; $limit stat -L -c '%%Y %%s' -- \"$f\" 2>&1; e $?\n", shellPath(path), n)
		}
	}
	for n, path := range ask.Logs {
		if askable(path) {
			fmt.Fprintf(&b, "f=%s; b 'log %d'; tell \"$f\"\n", shellPath(path), n)
		}
	}
	b.WriteString("b end; date '+%s.%N'; e $?\n}\n")
	b.WriteString("look </dev/null 2>/dev/null\nexit 0\n")
	return b.String()
}

// askable reports whether a path can be put into a shell's words.
func askable(path string) bool { return path != "" && !strings.ContainsRune(path, 0) }

// shellPath quotes a path for the shell. Only a leading ~/ means anything; a
// relative path begins at the home directory, as ~/ does.
func shellPath(path string) string {
	switch {
	case strings.HasPrefix(path, "/"):
		return shellWord(path)
	case path == "~":
		return `"$HOME"`
	case strings.HasPrefix(path, "~/"):
		return `"$HOME"/` + shellWord(path[2:])
	}
	return `"$HOME"/` + shellWord(path)
}

// shellWord quotes what the shell is to take as it stands.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// sendable gives a token that can stand in a header, or none.
func sendable(token string) string {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return ""
	}
	return token
}

// prologue defines the marks and what the readings share. Programs that talk to
// a driver or a network disk may hang: they are killed after a while where
// timeout exists.
const prologue = `LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/nvidia/bin:/usr/lib/wsl/lib; export PATH
b() { printf '\n%s > %s\n' "$n" "$1"; }
e() { printf '\n%s < %s\n' "$n" "$1"; }
limit=
if timeout -s KILL 1 true >/dev/null 2>&1; then limit="timeout -s KILL $secs"; fi
readrun() {
	body= pid= born= child= childborn= ended= lines=0
	set -f
	while IFS= read -r l || [ -n "$l" ]; do
		lines=$((lines+1)); [ $lines -gt 50 ] && break
		body="$body $l"
		for w in $l; do
			case $w in
			pid=*) pid=${w#pid=};;
			pid_start=*) born=${w#pid_start=};;
			child=*) child=${w#child=};;
			child_start=*) childborn=${w#child_start=};;
			end=*) ended=1;;
			esac
		done
	done <"$1"
	set +f
}
gone() {
	case $1 in ''|*[!0-9]*) return 1;; esac
	if read -r l <"/proc/$1/stat"; then
		set -f; set -- "$2" ${l##*\) }; set +f
		case $2 in Z|X|x) return 0;; esac
		if [ -n "$1" ] && [ "$1" != "${21}" ]; then return 0; fi
		return 1
	fi
	case $(kill -0 "$1" 2>&1) in *'No such process'*) return 0;; esac
	return 1
}
run() {
	if [ ! -r "$1" ]; then printf 'locked %s\n' "${1##*/}"; return; fi
	readrun "$1"
	if [ -z "$ended" ] && gone "$pid" "$born"; then
		readrun "$1"
		if [ -z "$ended" ]; then
			if [ -z "$child" ] || gone "$child" "$childborn"; then body="$body gone"; fi
		fi
	fi
	printf 'run %s/%s\n' "${1##*/}" "$body"
}
tell() {
	s=$($limit stat -L -c '%Y %s' -- "$1" 2>&1); r=$?
	printf '%s\n' "$s"
	if [ $r = 0 ] && [ -f "$1" ]; then
		z=${s##* }; k=0
		if [ "$z" -gt 4096 ]; then k=$((z-4096)); fi
		if [ "$z" -gt 0 ]; then $limit tail -c +$((k+1)) -- "$1" | head -c $((z-k)); fi
	fi
	e $r
}
`

// readings are the parts every look has. Order matters where a reading may hang:
// what comes before it is read all the same. A run's end is written before its
// process ends, so a run whose process is gone is read once more. Lists of
// /proc are made before the program that reads them, which is then not in them.
const readings = `b clock; date '+%s.%N'; e $?
b zone; date '+%z'; e $?
b self; echo "$$ $PPID"; e 0

b runs
if [ -z "$HOME" ]; then e nohome
elif [ -d "$HOME/.curfew/runs" ]; then
	for f in "$HOME"/.curfew/runs/*; do [ -f "$f" ] && run "$f"; done
	if [ -r "$HOME/.curfew/runs" ]; then e 0; else e locked; fi
else e 0; fi

b hold; f=$HOME/.curfew/hold
if [ -z "$HOME" ]; then e nohome
elif [ -e "$f" ]; then stat -L -c %Y "$f" && head -c 200 "$f"; e $?
else e 0; fi

b commands
set -- /proc/[0-9]*/cmdline
if [ "$(grep -aH '' /proc/$$/cmdline | tr -d '\000')" = "/proc/$$/cmdline:sh-scurfew-look" ]; then
	grep -aH '' "$@"
	e 0
else
	for f in "$@"; do
		if [ -r "$f" ]; then printf '%s:' "$f"; cat "$f"; echo; fi
	done
	e 0
fi
b stat; cat /proc/[0-9]*/stat; e 0
b btime; grep '^btime ' /proc/stat; e $?
b load; cat /proc/loadavg; e $?

b cores; c=/sys/fs/cgroup
if command -v nproc >/dev/null; then echo "nproc $(nproc)"; fi
if read -r l <"$c/cpu.max"; then echo "max $l"
elif read -r l <"$c/cpu/cpu.cfs_quota_us" && read -r p <"$c/cpu/cpu.cfs_period_us"; then echo "max $l $p"; fi
if [ -r "$c/cpu.stat" ]; then grep '^usage_usec ' "$c/cpu.stat"
elif read -r l <"$c/cpuacct/cpuacct.usage"; then echo "usage_nsec $l"; fi
e 0

b sessions; pts=
if [ -d /dev/pts ] && command -v stat >/dev/null; then
	set -- /dev/pts/[0-9]*
	if [ -e "$1" ]; then stat -c 'tty %X %n' "$@"; fi
	if command -v who >/dev/null; then
		who | while read -r u l r; do
			a=$(stat -L -c %X "/dev/$l")
			printf 'who %s %s %s\n' "${a:--}" "$l" "$u"
		done
	fi
	pts=1; e 0
else e 127; fi

b cards
q=index,name,utilization.gpu,memory.used,power.draw
f=--format=csv,noheader,nounits
if command -v nvidia-smi >/dev/null; then
	set -- /proc/[0-9]*/cmdline
	set -- $(grep -la -e "--query-gpu=$q" "$@")
	if [ $# -ge 2 ]; then e stuck; else
		o=$($limit nvidia-smi --query-gpu=$q,mig.mode.current $f 2>&1); r=$?
		case $o in *'not a valid field'*) o=$($limit nvidia-smi --query-gpu=$q $f 2>&1); r=$?;; esac
		printf '%s\n' "$o"; e $r
	fi
else
	for d in /dev/nvidia[0-9]* /dev/kfd /dev/davinci[0-9]* /proc/driver/nvidia/gpus/*; do
		if [ -e "$d" ]; then echo "$d"; fi
	done
	e missing
fi
`
