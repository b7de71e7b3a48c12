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
// time alone: a progress bar on an abandoned terminal is no input.
//
// # Clocks
//
// Every time read inside is corrected by the difference between the box's clock
// and ours. How long the instance has been up is never asked: inside a container
// /proc/uptime is the host's.
package look
