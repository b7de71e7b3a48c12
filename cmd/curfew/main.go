// Curfew guards rented GPU instances: it stops or releases what has ended its
// work, after it told people and looked again.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"os/user"
	"syscall"
	"time"

	"golang.org/x/term"
)

// version is written by the linker.
var version = "dev"

// proc is where the power cycle of the machine that curfew runs in is read from. The
// linker writes another path into programs that are to be tested over several.
var proc = "/proc" //nolint:gochecknoglobals // the linker writes nothing else

func main() {
	var ignored []os.Signal // asked for before anybody listens
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			ignored = append(ignored, s)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	os.Exit(run(ctx, system{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		lookupEnv: os.LookupEnv, now: time.Now, user: userName, hangup: hup, ignored: ignored,
		asks:   term.IsTerminal(int(os.Stdin.Fd())),
		tables: term.IsTerminal(int(os.Stdout.Fd())), notes: term.IsTerminal(int(os.Stderr.Fd())),
		size: func() (width, height int) {
			width, height, _ = term.GetSize(int(os.Stdout.Fd())) // not a terminal: 0, 0
			return width, height
		},
	}))
}

// system is everything of the world that a command touches.
type system struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
	now            func() time.Time
	user           func() string
	hangup         <-chan os.Signal // asks for a reload
	ignored        []os.Signal      // what whoever started the program wants it to ignore
	asks           bool             // somebody can be asked on stdin
	tables         bool             // stdout is a terminal
	notes          bool             // stderr is a terminal
	size           func() (width, height int)
}

// env gives an environment variable, or "".
func (s system) env(name string) string {
	v, _ := s.lookupEnv(name)
	return v
}

// userName is who runs the command, the one behind sudo where there is one.
func userName() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
