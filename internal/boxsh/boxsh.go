// Package boxsh runs shell scripts inside an instance: over SSH, and without where
// that is the machine curfew itself runs in. What a script starts ends with the script's
// time, with the connection and with the caller's context, and no command line shows
// anything of a script.
package boxsh

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/internal/proc"
	"curfew/internal/sshx"
)

// Login tells how to get inside. It may be used from several goroutines.
type Login struct {
	// Access tells how to log in.
	Access func(ctx context.Context, i fleet.Instance) (fleet.Access, error)
	Dialer *sshx.Dialer
	// Env is the environment on this machine; it holds nothing but PATH and HOME.
	Env []string
	// Secrets are taken out of what is told; may be nil.
	Secrets func() []string
}

// Open logs in. args are the words of the command line that scripts are run by: a shell
// that reads them from its standard input. The Redactor is never nil, also not beside an
// error: it knows the secrets that were used.
func (l Login) Open(ctx context.Context, i fleet.Instance, args string) (*Shell, *httpx.Redactor, error) {
	if i.Here {
		return &Shell{args: args, env: l.Env}, httpx.NewRedactor(l.Secrets), nil
	}
	access, err := l.Access(ctx, i)
	redact := httpx.NewRedactor(func() []string {
		used := []string{access.Password, access.Key, access.JupyterToken}
		if l.Secrets != nil {
			used = append(used, l.Secrets()...)
		}
		return used
	})
	switch {
	case err != nil:
		return nil, redact, err
	case access.Host == "" || access.User == "":
		return nil, redact, errors.New("no host or no user was told")
	}
	conn, err := l.Dialer.Dial(ctx, sshx.Target{Ref: i.Ref, Boot: i.Boot, Access: access})
	if err != nil {
		return nil, redact, err
	}
	return &Shell{args: args, conn: conn}, redact, nil
}

// Shell runs scripts inside one instance.
type Shell struct {
	args string
	conn *sshx.Conn // nil: it is this machine
	env  []string
}

// Exit is the error of a script that ended by itself with another status than 0.
type Exit struct{ Status int }

// Error gives the status.
func (e *Exit) Error() string { return fmt.Sprintf("it ended with exit status %d", e.Status) }

// Run gives the last bytes of what a script wrote, at most limit, and how it ended: nil,
// an [Exit], or why it did not end by itself.
func (s *Shell) Run(ctx context.Context, script Script, limit int) ([]byte, error) {
	if s.conn == nil {
		got := proc.Start(proc.Command{
			Path: "/bin/sh", Args: strings.Fields(s.args), Env: s.env, Stdin: script.alone(), Tail: limit,
		}).Wait(ctx)
		if exit, ok := errors.AsType[*exec.ExitError](got.Err); ok && exit.Exited() {
			return got.Out, &Exit{exit.ExitCode()}
		}
		return got.Out, got.Err
	}
	out, err := s.conn.Tether(ctx, "exec "+s.args, script.tethered(), limit)
	if exit, ok := errors.AsType[*sshx.Exit](err); ok && exit.Status >= 0 {
		err = &Exit{exit.Status}
	}
	return out, err
}

// Close ends the connection, and with it what still runs by it.
func (s *Shell) Close() {
	if s.conn != nil {
		s.conn.Close()
	}
}
