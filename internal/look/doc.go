// Package look is one look at a box from the inside, whatever way it is reached: a
// shell script written in POSIX sh for what a bare container has (dash, bash or
// busybox), and a pure function that reads the facts from its answer. What cannot
// be read is named in Facts.Unreadable and never becomes a zero.
//
// The script is sent on standard input: inside, a look is the command line
// "sh -s curfew-look" and nothing else, whatever files and logs it asks for.
// Such shells, what they started and the login they run in are left out of the
// process list, so that a look never sees itself or another.
//
// # In-box run files
//
// A training run may report itself in a file ~/.curfew/runs/ID, where ID is made
// of letters, digits, dots, dashes and underscores and does not begin with a
// dot. The file holds words of the form key=value, separated by blanks or
// newlines:
//
//	start=UNIX       when it began, in seconds; required
//	pid=N            the process that will write the end, as seen by a login
//	pid_start=TICKS  field 22 of /proc/N/stat: tells a reused pid apart
//	end=UNIX         when it ended; absent while it runs
//	exit=CODE        how it ended; given with end
//	then=stop        its machine is to be stopped afterwards: curfew exec --then stop
//	said=BASE64      the last lines of its output, at most 1 KB; given with end
//	child=N          the process that does the work, which may outlive the one named
//	                 by pid: while it is there, the run is going on
//	child_start=TICKS  as pid_start
//
// Unknown keys are ignored and may be added. The start is written at once, in
// one write; the end is appended, in one write, before the process named by pid
// ends: a run without an end whose process is gone was killed. A file without a
// readable start makes the reading of runs fail. Any shell can write it:
//
//	mkdir -p ~/.curfew/runs; f=~/.curfew/runs/$(date +%s).$$; echo "start=$(date +%s) pid=$$" >"$f"
//	python train.py; code=$?
//	echo "end=$(date +%s) exit=$code" >>"$f"
//
// All open runs are reported, and the 100 that ended last.
//
// # The hold file
//
// ~/.curfew/hold keeps curfew's hands off until a time. Its first line is a
// duration counted from the file's modification time (20s, 2h, 1h30m), or a time
// of day (08:00): the next such time after the modification. A time of day is in
// the time zone of curfew's configuration, or in the box's own where none is
// given. Anything else, an empty file too, makes the reading of the hold fail.
//
// # Sessions
//
// Input on a terminal is read by the program in front of it, and Linux sets a
// terminal's access time when it is read and its modification time when it is
// written (tty_read and tty_write in drivers/tty/tty_io.c, in steps of eight
// seconds in newer kernels). So a session's idle time is counted from the access
// time alone: a progress bar on an abandoned terminal is no input. The terminals
// that Jupyter and VS Code open are among them.
//
// # Jupyter
//
// A running server writes its port and token into a runtime file, jpserver-PID.json
// or nbserver-PID.json, which only its user can read. It is looked for by process,
// where the environment says that it is, and in the login's own folder. The server
// is asked for api/kernels at that port from inside, by curl or, where there is
// none, by Python; the answer's kernels are sessions. One that is busy is at work,
// whenever its last message was. Any other was last used at last_activity: also
// one that is starting, for it stays so until somebody connects. That a page is
// open says nothing. Before version 2.15 a server counts a page that connects
// again as use.
//
// A server that is there and cannot be asked makes the reading fail, for its
// kernels may be at work: its runtime file is another user's, it refuses the token,
// it hangs, or no client is to be had. One that ended meanwhile is nothing, and
// neither is a runtime file that was left behind, whose process id is somebody
// else's by now. The token of a platform is tried where a server refuses its own.
//
// Seen from outside of a container, a server has another process id, other folders
// and a network of its own, which the look enters; that takes root. Its terminals
// are not among those of the box. Only then is it asked for api/terminals: their
// last_activity is moved by output as well, and by a page that is merely opened,
// as was seen with a real server (1.23), while the access time is moved by input
// alone.
//
// Kernels that an editor starts by itself have no server to ask. Their work is
// seen on the cards, or by a policy's process.
//
// # Editors
//
// VS Code's server, and those made from it, keep a local history of saved files in
// ~/.vscode-server/data/User/History (code-server: ~/.local/share/code-server).
// Its newest entry is when somebody last saved; it counts while such a server
// runs. An entry of the last ten seconds is replaced and not added, which changes
// the time of its list instead of that of its folder. Seen with code-server 4.96;
// that others do the same is not verified. Being connected is no input, and what
// is typed and not saved is not seen.
//
// # Clocks
//
// Every time read inside is corrected by the difference between the box's clock
// and ours. How long the instance has been up is never asked: inside a container
// /proc/uptime is the host's.
package look
