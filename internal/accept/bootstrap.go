package accept

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/boxsh"
	"curfew/internal/httpx"
	"curfew/internal/look"
	"curfew/internal/sshx"
	"curfew/signals/probe"
)

// Why a bootstrap failed.
const (
	BootUnreachable fleet.Code = "accept.boot-unreachable" // it was not even begun
	BootUnfilled    fleet.Code = "accept.boot-unfilled"
	BootFailed      fleet.Code = "accept.boot-failed"
	BootTimedOut    fleet.Code = "accept.boot-timed-out"
	BootLost        fleet.Code = "accept.boot-lost"
	BootKilled      fleet.Code = "accept.boot-killed"
)

// LogLimit is how many bytes of the end of what a bootstrap writes are kept.
const LogLimit = 256 << 10

// Bootstrap is a shell script that prepares a machine.
type Bootstrap struct {
	// Script may have {{.Name}} and the like in it, which stand for what is known of the
	// instance; the shell takes each as one word.
	Script string
	// Secrets are put into its environment, by name. They are sent on standard input, and
	// taken out of the log.
	Secrets map[string]string
	Timeout time.Duration
}

// Check says what is wrong with a script, before anything is sent; the error says after
// a semicolon what would be right.
func (b Bootstrap) Check() error {
	_, _, err := b.parse()
	return err
}

// parse gives the shell that a script is for, none is the user's own, and its text.
func (b Bootstrap) parse() (shell string, q *probe.Question, err error) {
	if strings.TrimSpace(b.Script) == "" {
		return "", nil, errors.New("the bootstrap script is empty; write the commands that prepare the machine")
	}
	shell, body, err := interpreter(b.Script)
	if err != nil {
		return "", nil, err
	}
	for name := range b.Secrets {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
			return "", nil, fmt.Errorf("%q is not the name of an environment variable; write letters, digits and _", name)
		}
	}
	q, err = probe.ParseCommand(body)
	return shell, q, err
}

// Booted is what became of a bootstrap.
type Booted struct {
	fleet.Bootstrapped
	Begun bool   // something may have been done inside
	Log   []byte // the end of what it wrote, without secrets
}

// Bootstrap runs a script in a login shell. An error means that ctx ended first; what
// had been started is over then, or ends by itself.
func (x *Examiner) Bootstrap(ctx context.Context, i fleet.Instance, b Bootstrap) (Booted, error) {
	began := x.Now()
	failed := func(code fleet.Code, key string, value fleet.Value) Booted {
		why := fleet.Because(code, fleet.Values{key: value})
		return Booted{Bootstrapped: fleet.Bootstrapped{Why: why, Took: x.Now().Sub(began)}}
	}
	shell, q, err := b.parse()
	if err != nil {
		return failed(BootUnfilled, "why", fleet.Text(err.Error())), nil
	}
	text, why := q.About(i)
	if !why.IsZero() {
		return failed(BootUnfilled, "why", fleet.Nested(why)), nil
	}
	limited, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	sh, redact, err := x.Open(limited, i, look.AcceptArgs)
	if err != nil {
		if ctx.Err() != nil {
			return Booted{}, ctx.Err()
		}
		return failed(BootUnreachable, "error", fleet.Text(boxsh.Short(boxsh.Printable(redact.String(err.Error()))))), nil
	}
	defer sh.Close()
	out, err := sh.Run(limited, boxsh.Script{Body: b.in(shell, text), Timeout: b.Timeout}, LogLimit)
	if ctx.Err() != nil {
		return Booted{Begun: true}, ctx.Err()
	}
	done := Booted{Begun: true, Log: b.log(out, redact)}
	done.Took = x.Now().Sub(began)
	done.Exit, done.Why = b.ended(limited, err, done.Log, redact)
	done.OK = done.Why.IsZero()
	return done, nil
}

// in writes the script for a shell: secrets become its environment.
func (b Bootstrap) in(shell, text string) string {
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.Secrets)) {
		fmt.Fprintf(&s, "%s=%s; export %s\n", name, boxsh.Word(b.Secrets[name]), name)
	}
	return s.String() + boxsh.LoginShell(shell, text)
}

// interpreter gives the shell that the first line of a script names, and the rest; none
// is the user's own.
func interpreter(text string) (shell, body string, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line, rest, _ := strings.Cut(text, "\n")
	named, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return "", text, nil
	}
	words := strings.Fields(named)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
	}
	var set strings.Builder
	if len(words) == 0 || !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, path.Base(words[0])) {
		return "", "", fmt.Errorf("the bootstrap script begins with %q; write a script for sh or bash", boxsh.Short(boxsh.Printable(line)))
	}
	for _, option := range words[1:] { // as in #!/bin/bash -e
		if !regexp.MustCompile(`^-[a-z]+$`).MatchString(option) {
			return "", "", fmt.Errorf("the bootstrap script begins with %q; write options of the shell as -e, or use set", boxsh.Short(boxsh.Printable(line)))
		}
		set.WriteString("set " + option + "; ")
	}
	return path.Base(words[0]), set.String() + rest, nil
}

// leastSecret is how short a line of a secret is not looked for by itself: it would be
// found anywhere.
const leastSecret = 6

// secrets are what is taken out of the log: also each line of one, and as a shell writes
// it that shows what it does.
func (b Bootstrap) secrets() []string {
	var all []string
	for _, s := range b.Secrets {
		all = append(all, s, boxsh.Word(s), strings.ReplaceAll(s, "'", `'\''`))
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= leastSecret {
				all = append(all, line)
			}
		}
	}
	return all
}

// log makes the end of an output fit to be kept. Where something before it is missing,
// its begin goes as well: it may lie within a secret, which nobody would know by its
// rest.
func (b Bootstrap) log(out []byte, redact *httpx.Redactor) []byte {
	text := strings.ToValidUTF8(string(out), "")
	text = httpx.NewRedactor(b.secrets).String(redact.String(text))
	if len(out) < LogLimit {
		return []byte(text)
	}
	longest := 0
	for _, s := range b.secrets() {
		longest = max(longest, len(s))
	}
	text = text[min(len(text), longest):]
	if _, rest, lines := strings.Cut(text, "\n"); lines {
		text = rest
	}
	return []byte("[…]\n" + strings.ToValidUTF8(text, ""))
}

// ended says how a script ended.
func (b Bootstrap) ended(ctx context.Context, err error, log []byte, redact *httpx.Redactor) (exit *int, why fleet.Reason) {
	said := fleet.Text(lastWords(string(log)))
	zero := 0
	ended, byItself := errors.AsType[*boxsh.Exit](err)
	switch {
	case err == nil:
		return &zero, fleet.Reason{}
	case byItself:
		return &ended.Status, fleet.Because(BootFailed, fleet.Values{"status": fleet.Number(float64(ended.Status)), "said": said})
	case ctx.Err() != nil || errors.Is(err, sshx.ErrTimedOut):
		return nil, fleet.Because(BootTimedOut, fleet.Values{"timeout": fleet.Span(b.Timeout), "said": said})
	case errors.Is(err, sshx.ErrLost):
		return nil, fleet.Because(BootLost, fleet.Values{"said": said})
	}
	text := httpx.NewRedactor(b.secrets).String(redact.String(err.Error()))
	return nil, fleet.Because(BootKilled, fleet.Values{"error": fleet.Text(boxsh.Short(boxsh.Printable(text)))})
}
