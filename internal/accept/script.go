package accept

import (
	"fmt"
	"strings"

	"curfew/internal/boxsh"
)

// exam is one examination: what to send, and what is needed to read the answer.
type exam struct {
	script string
	mark   string
	t      Thresholds
}

// newExam writes an examination. What may hang comes after what does not, so that it is
// read all the same; the load comes last, so that it disturbs no other measurement.
func newExam(t Thresholds) exam {
	e := exam{mark: boxsh.Mark(), t: t}
	var b strings.Builder
	fmt.Fprintf(&b, "mark=%s\nurl=%s\ndir=%s\n", e.mark, boxsh.Word(quoteURL(t.URL)), boxsh.Word(t.Path))
	b.WriteString(prologue + machineProbes)
	for _, p := range []struct {
		check Check
		text  string
	}{{CheckDisk, diskProbe}, {CheckNetwork, networkProbe}} {
		if !t.off(p.check) && (p.check != CheckNetwork || t.URL != "") {
			b.WriteString(p.text)
		}
	}
	b.WriteString(cardProbes + pythonProbe)
	fmt.Fprintf(&b, "curfew_load() { cat <<'%[1]s'\n%[2]s%[1]s\n}\n", "CURFEW_PYTHON", loadProgram)
	fmt.Fprintf(&b, "curfew_sum() { cat <<'%[1]s'\n%[2]s%[1]s\n}\n", "CURFEW_PYTHON", allReduceProgram)
	if !t.off(CheckFramework) || !t.off(CheckSteady) {
		b.WriteString(loadProbe)
	}
	if !t.off(CheckAllReduce) {
		b.WriteString(allReduceProbe)
	}
	b.WriteString("b end; e 0\nexit 0\n")
	e.script = b.String()
	return e
}

// quoteURL writes an address as it stands between the quotes of curl's configuration.
func quoteURL(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }

// prologue defines the marks, and lim, which runs a program for so many seconds. What
// takes longer is first asked to tell how far it came (dd does so), then killed. lim
// makes no process group: everything ends with the one of the login.
const prologue = `LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/lib/wsl/lib; export PATH
b() { printf '\n%s > %s\n' "$mark" "$1"; }
e() { printf '\n%s < %s\n' "$mark" "$1"; }
has() { command -v "$1" >/dev/null 2>&1; }
lim() {
	lim_secs=$1; shift
	{ "$@" <&6 6<&- & } 6<&0
	lim_pid=$!
	( n=0
	while [ $n -lt $lim_secs ]; do sleep 1; kill -0 $lim_pid || exit 0; n=$((n+1)); done
	kill -USR1 $lim_pid; sleep 1; kill -9 $lim_pid ) >/dev/null 2>&1 &
	lim_watch=$!
	wait $lim_pid 2>/dev/null; lim_status=$?
	kill $lim_watch 2>/dev/null
	return $lim_status
}
`

// machineProbes read what needs no measuring.
const machineProbes = `if [ -z "$dir" ]; then dir=${HOME:-/tmp}; fi
b cores; c=/sys/fs/cgroup
if has nproc; then echo "nproc $(nproc)"; fi
if read -r l 2>/dev/null <"$c/cpu.max"; then echo "max $l"
elif read -r l 2>/dev/null <"$c/cpu/cpu.cfs_quota_us" && read -r p <"$c/cpu/cpu.cfs_period_us"; then echo "max $l $p"; fi
e 0
b memory
grep '^MemTotal:' /proc/meminfo
if read -r l 2>/dev/null <"$c/memory.max"; then echo "max $l"
elif read -r l 2>/dev/null <"$c/memory/memory.limit_in_bytes"; then echo "max $l"; fi
e 0
b shm; if [ -d /dev/shm ]; then lim 10 df -Pk /dev/shm 2>&1; e $?; else e missing; fi
b free; if [ -d "$dir" ]; then lim 10 df -Pk "$dir" 2>&1; e $?; else e missing; fi
`

// diskProbe writes at most 1 GiB past the cache. The file is taken off its folder before
// anything is written, and is written through its descriptor: whatever ends the
// examination, nothing is left. A quarter of what is free is written at most.
const diskProbe = `b disk
set -- $(lim 10 df -Pk "$dir" | tail -n 1); kb=$4
case $kb in ''|*[!0-9]*) kb=;; esac
count=$((${kb:-0}/4096/4)); if [ $count -gt 256 ]; then count=256; fi
f=$dir/.curfew-accept.$mark
if [ ! -d "$dir" ]; then e missing
elif ! has dd; then e nodd
elif [ -z "$kb" ]; then e nodf
elif [ $count -lt 8 ]; then e full
else
	( set -C; umask 077; exec 5>"$f" && rm -f -- "$f" && lim 20 dd if=/dev/zero of=/proc/self/fd/5 bs=4194304 count=$count oflag=direct 2>&1 )
	r=$?; rm -f -- "$f"; e $r
fi
`

// networkProbe downloads at most 256 MiB for at most 15 seconds. The address comes on
// standard input, since it may be signed.
const networkProbe = `b network
if has curl; then
	printf 'url = "%s"\n' "$url" | lim 25 curl -sS -L --connect-timeout 10 --max-time 15 -r 0-268435455 -o /dev/null -w '\nspeed %{http_code} %{size_download} %{time_starttransfer} %{time_total}\n' -K - 2>&1
	e $?
else e missing; fi
`

// cardProbes ask nvidia-smi. A card with a utilisation of half or more is at work for
// somebody, who is not to be disturbed by a load.
const cardProbes = `f=--format=csv,noheader,nounits
cards=0 busy= throttle=
if has nvidia-smi; then
	b cards; o=$(lim 20 nvidia-smi --query-gpu=index,name,memory.total,driver_version,utilization.gpu $f 2>&1); r=$?
	printf '%s\n' "$o"; e $r
	if [ $r = 0 ]; then
		cards=$(printf '%s\n' "$o" | grep -c '^ *[0-9][0-9]*,')
		if printf '%s\n' "$o" | grep -q ', *\([5-9][0-9]\|100\) *$'; then busy=1; fi
	fi
	b cuda; o=$(lim 20 nvidia-smi 2>&1); r=$?; printf '%s\n' "$o" | head -n 8; e $r
	b links; o=$(lim 20 nvidia-smi topo -m 2>&1); r=$?; printf '%s\n' "$o" | head -n 80; e $r
	for q in clocks_throttle_reasons.active clocks_event_reasons.active; do
		if [ -z "$throttle" ] && lim 20 nvidia-smi --query-gpu=$q $f >/dev/null 2>&1; then throttle=,$q; fi
	done
else
	b cards; e missing
	b cuda; e missing
	b links; e missing
fi
`

// pythonProbe finds a Python with PyTorch: first the one that a login has, then those
// of common images.
const pythonProbe = `b python
py= bare=
case $SHELL in */bash|*/zsh|*/ksh) ;; *) SHELL=/bin/sh;; esac
own=$(lim 20 "$SHELL" -lc 'command -v python3 || command -v python' | tail -n 1)
for p in "$own" python3 python /root/miniconda3/bin/python /opt/conda/bin/python "$HOME/miniconda3/bin/python" /venv/main/bin/python; do
	if [ -n "$py" ] || [ -z "$p" ] || ! has "$p"; then continue; fi
	bare=$p
	if printf 'import sys, importlib.util\nsys.exit(importlib.util.find_spec("torch") is None)\n' | lim 30 "$p" - >/dev/null 2>&1; then py=$p; fi
done
if [ -n "$py" ]; then echo "$py"; e 0; elif [ -n "$bare" ]; then e notorch; else e missing; fi
`

// loadProbe runs a matrix product on each card and samples clocks meanwhile.
const loadProbe = `b load
if [ $cards = 0 ]; then e nocards
elif [ -z "$py" ]; then e nopython
elif [ -n "$busy" ]; then e busy
else
	( curfew_load | lim 150 "$py" - 2>&1 ) &
	load=$!; n=0
	while kill -0 $load 2>/dev/null && [ $n -lt 150 ]; do
		lim 10 nvidia-smi --query-gpu=index,utilization.gpu,clocks.sm$throttle $f 2>/dev/null | sed 's/^/sample /'
		sleep 1; n=$((n+1))
	done
	wait $load; e 0
fi
`

// allReduceProbe adds up a tensor over all cards, by PyTorch or by nccl-tests. Which
// way NCCL goes is left to it: InfiniBand and its own settings stay as they are.
const allReduceProbe = `b allreduce
if [ $cards = 0 ]; then e nocards
elif [ $cards = 1 ]; then e single
elif [ -n "$busy" ]; then e busy
else
	r=nopython
	if [ -n "$py" ]; then
		echo by torch; o=$(curfew_sum | lim 120 "$py" - $cards 2>&1 | tail -c 8000); printf '%s\n' "$o"
		case $o in *busbw*) r=0;; *) r=failed;; esac
	fi
	if [ "$r" != 0 ]; then
		for p in all_reduce_perf /usr/local/nccl-tests/build/all_reduce_perf /opt/nccl-tests/build/all_reduce_perf "$HOME/nccl-tests/build/all_reduce_perf"; do
			if has "$p"; then
				echo by nccl-tests; lim 120 "$p" -b 256M -e 256M -g $cards -w 2 -n 10 2>&1 | tail -c 8000; r=0; break
			fi
		done
	fi
	e $r
fi
`
