package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/text"
)

// What is said where a command cannot be understood.
const (
	failHelp      fleet.Code = "cli.fail.help"
	failCommand   fleet.Code = "cli.fail.command"
	failArguments fleet.Code = "cli.fail.arguments"
	failFlag      fleet.Code = "cli.fail.flag"
	failFlagValue fleet.Code = "cli.fail.flag-value"
	failFlagBad   fleet.Code = "cli.fail.flag-bad"
	failLanguage  fleet.Code = "cli.fail.language"
	failNotID     fleet.Code = "cli.fail.not-id"
	failNotSpan   fleet.Code = "cli.fail.not-span"
	failNobody    fleet.Code = "cli.fail.nobody-to-ask"
	failChannel   fleet.Code = "cli.fail.no-channel"
)

// What is said where something fails.
const (
	failProblems   fleet.Code = "cli.fail.problems"
	failPartly     fleet.Code = "cli.fail.partly"
	failWho        fleet.Code = "cli.fail.who"
	failList       fleet.Code = "cli.fail.list"
	failWallet     fleet.Code = "cli.fail.wallet"
	failHome       fleet.Code = "cli.fail.home"
	failDraft      fleet.Code = "cli.fail.draft"
	failNotWritten fleet.Code = "cli.fail.not-written"
	failAnswer     fleet.Code = "cli.fail.answer"
)

// told makes an error that is said in the reader's language.
func told(code fleet.Code, v fleet.Values) error {
	return &fleet.ReasonError{Reason: fleet.Because(code, v)}
}

// toldOf makes such an error of a cause, which the text has as its why.
func toldOf(code fleet.Code, cause error) error {
	return &fleet.ReasonError{Reason: fleet.Because(code, fleet.Values{"why": whyOf(cause)}), Err: cause}
}

// whyOf gives an error as a value of a reason: in the reader's language where it can
// be told so, else as it is.
func whyOf(err error) fleet.Value {
	if reason, ok := errors.AsType[*fleet.ReasonError](err); ok && reason.Error() == err.Error() {
		return fleet.Nested(reason.Reason)
	}
	return fleet.Text(err.Error())
}

// reader gives who renders for the reader. Before the configuration is read that goes
// by the flag and the environment.
func (p *program) reader() (*text.Renderer, error) {
	if p.render != nil {
		return p.render, nil
	}
	return text.New(p.language(""), time.Local)
}

// errorText gives an error for people, in their language as far as it is told in it.
func (p *program) errorText(err error) string {
	r, failed := p.reader()
	if failed != nil {
		return err.Error()
	}
	if refused, ok := errors.AsType[*ctl.RefusedError](err); ok {
		return r.Reason(refused.Ruling.Reason, p.now())
	}
	if reason, ok := errors.AsType[*fleet.ReasonError](err); ok {
		return strings.Replace(err.Error(), reason.Error(), r.Reason(reason.Reason, p.now()), 1)
	}
	return err.Error()
}

// countProblems closes a list of problems, whose lines are English: they quote keys.
func (p *program) countProblems(ps config.Problems) {
	p.note(failProblems, fleet.Values{"count": fleet.Number(float64(len(ps))), "file": fleet.Text(ps[0].File)})
}

// tellUsage makes every command say in the reader's language what it takes.
func tellUsage(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	for _, c := range root.Commands() {
		tellArguments(c)
	}
}

func tellArguments(c *cobra.Command) {
	for _, child := range c.Commands() {
		tellArguments(child)
	}
	fits := c.Args
	if fits == nil {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if fits(c, args) == nil {
			return nil
		}
		v := fleet.Values{"use": fleet.Text(strings.TrimSuffix(c.UseLine(), " [flags]"))}
		if len(args) > 0 {
			v["given"] = fleet.Text(strings.Join(args, " "))
		}
		return told(failArguments, v)
	}
}

// flagError tells what is wrong with a flag.
func flagError(err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		flag := "--" + e.GetSpecifiedName()
		if e.GetSpecifiedShortnames() != "" {
			flag = "-" + e.GetSpecifiedName()
		}
		return told(failFlag, fleet.Values{"flag": fleet.Text(flag)})
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return told(failFlagValue, fleet.Values{"flag": fleet.Text("--" + e.GetFlag().Name)})
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return told(failFlagBad, fleet.Values{
			"flag": fleet.Text("--" + e.GetFlag().Name), "value": fleet.Text(e.GetValue()), "why": fleet.Text(e.Unwrap().Error()),
		})
	}
	return err
}

// misnamed tells which command there is not, and which may be meant.
func misnamed(root *cobra.Command, err error) error {
	rest, unknown := strings.CutPrefix(err.Error(), "unknown command ")
	quoted, bad := strconv.QuotedPrefix(rest)
	if !unknown || bad != nil {
		return err
	}
	word, bad := strconv.Unquote(quoted)
	if bad != nil {
		return err
	}
	v := fleet.Values{"word": fleet.Text(word)}
	if near := root.SuggestionsFor(word); len(near) > 0 {
		v["near"] = fleet.Text(strings.Join(near, ", "))
	}
	return told(failCommand, v)
}
