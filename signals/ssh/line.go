package ssh

import (
	"context"
	"errors"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/look"
	"curfew/internal/sshx"
)

// Why an instance could not be looked at.
const (
	ReasonAccess     fleet.Code = "ssh.access"      // how to log in is not known
	ReasonRefused    fleet.Code = "ssh.refused"     // no connection could be made
	ReasonTimeout    fleet.Code = "ssh.timeout"     // it hangs
	ReasonHandshake  fleet.Code = "ssh.handshake"   // what answers does not speak SSH
	ReasonPinChanged fleet.Code = "ssh.pin-changed" // another host key in the same boot
	ReasonAuth       fleet.Code = "ssh.auth"        // the login was refused
	ReasonLost       fleet.Code = "ssh.lost"        // the connection broke
	ReasonCommand    fleet.Code = "ssh.command"     // the look could not be run
	ReasonGarbled    fleet.Code = "ssh.garbled"     // the answer is no answer
)

const (
	// accessPause is the least time between two questions of how to log in, and
	// between two tries of a login that was refused.
	accessPause = time.Minute
	// accessStale is after which time an address that does not answer is asked
	// for again.
	accessStale = 10 * time.Minute
)

// line is the way to one instance in one boot.
type line struct {
	source *Source
	boot   fleet.Boot
	used   time.Time // when it was last asked for

	conn    *sshx.Conn
	access  *fleet.Access
	askedAt time.Time    // when Access was last asked
	refused bool         // the login was refused with the present access
	why     fleet.Reason // why access is not to be had, or was refused

	clock look.Clock
}

// look looks once and always gives evidence.
func (l *line) look(ctx context.Context, i fleet.Instance) fleet.Evidence {
	s := l.source
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	e := fleet.Evidence{Source: s.Name(), SeenAt: s.o.Now(), Boot: i.Boot, FreshFor: s.freshFor()}
	kept := l.conn != nil && l.conn.Alive()
	facts, why, lost := l.try(ctx, i)
	if lost && kept {
		// A connection may have died since the last look; that says nothing of the
		// instance.
		facts, why, _ = l.try(ctx, i)
	}
	e.Facts, e.Reason = facts, why
	return e
}

// try connects if need be and asks once. It tells whether the connection broke.
func (l *line) try(ctx context.Context, i fleet.Instance) (facts fleet.Facts, why fleet.Reason, lost bool) {
	if l.conn == nil || !l.conn.Alive() {
		l.hangUp()
		if why := l.connect(ctx, i); !why.IsZero() {
			return fleet.Facts{}, why, false
		}
	}
	s := l.source
	one := look.Ask(look.Question{
		Ask: s.o.Ask(i), Cards: i.GPU.Count, Zone: s.o.Zone, JupyterToken: l.access.JupyterToken,
	}, s.o.Timeout/2)
	began := s.o.Now()
	out, err := l.conn.Feed(ctx, look.Command, one.Script, look.AnswerLimit)
	ended := s.o.Now()
	if err != nil && !errors.Is(err, sshx.ErrTooMuch) && !errors.Is(err, sshx.ErrCommand) {
		l.hangUp()
	}
	facts, ok := one.Read(out, &l.clock, began, ended, cutBy(err))
	switch {
	case !ok && err != nil:
		return fleet.Facts{}, l.reason(err), errors.Is(err, sshx.ErrLost)
	case !ok:
		return fleet.Facts{}, fleet.Because(ReasonGarbled, fleet.Values{"said": fleet.Text(l.quote(out))}), false
	}
	return facts, fleet.Reason{}, false
}

// cutBy says in a few words why an answer that began did not end.
func cutBy(err error) string {
	switch {
	case errors.Is(err, sshx.ErrTimedOut):
		return "timed out"
	case errors.Is(err, sshx.ErrTooMuch):
		return "the answer was too long"
	case errors.Is(err, sshx.ErrLost):
		return "the connection broke"
	case err != nil:
		return "the look was killed"
	}
	return ""
}

// connect logs in. After a refusal it asks once more how to, for the platform
// may have given the instance another password; not more often than accessPause,
// and meanwhile nothing is tried at all.
func (l *line) connect(ctx context.Context, i fleet.Instance) fleet.Reason {
	for {
		asked, why := l.learn(ctx, i)
		if !why.IsZero() {
			return why
		}
		conn, err := l.source.dialer.Dial(ctx, sshx.Target{Ref: i.Ref, Boot: i.Boot, Access: *l.access})
		if err == nil {
			l.conn = conn
			return fleet.Reason{}
		}
		why = l.reason(err)
		if !errors.Is(err, sshx.ErrAuth) {
			if l.source.o.Now().Sub(l.askedAt) >= accessStale {
				l.access = nil
			}
			return why
		}
		l.refused, l.why = true, why
		if asked {
			return why
		}
	}
}

// learn makes sure that it is known how to log in, and tells whether it asked.
func (l *line) learn(ctx context.Context, i fleet.Instance) (asked bool, why fleet.Reason) {
	if l.access != nil && !l.refused {
		return false, fleet.Reason{}
	}
	now := l.source.o.Now()
	if !l.askedAt.IsZero() && now.Sub(l.askedAt) < accessPause {
		return false, l.why
	}
	l.askedAt, l.access, l.refused = now, nil, false
	a, err := l.source.o.Access(ctx, i)
	switch {
	case err != nil:
		l.why = fleet.Because(ReasonAccess, fleet.Values{"error": fleet.Text(look.Short(err.Error()))})
		return true, l.why
	case a.Host == "" || a.User == "":
		l.why = fleet.Because(ReasonAccess, fleet.Values{"error": fleet.Text("no host or no user was told")})
		return true, l.why
	}
	l.access, l.why = &a, fleet.Reason{}
	return true, fleet.Reason{}
}

// hangUp ends the connection, if there is one.
func (l *line) hangUp() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// reason tells why there was no look. No text in it comes from anywhere a
// password could be.
func (l *line) reason(err error) fleet.Reason {
	values := fleet.Values{"address": fleet.Text(sshx.Target{Access: *l.access}.Address())}
	code := ReasonCommand
	change, changed := errors.AsType[*sshx.PinChange](err)
	switch {
	case changed:
		code = ReasonPinChanged
		values["was"], values["is"] = fleet.Text(change.Was), fleet.Text(change.Is)
	case errors.Is(err, sshx.ErrAuth):
		code = ReasonAuth
		values["user"] = fleet.Text(l.access.User)
	case errors.Is(err, sshx.ErrTimedOut):
		code = ReasonTimeout
		values["timeout"] = fleet.Span(l.source.o.Timeout)
	case errors.Is(err, sshx.ErrUnreachable):
		code = ReasonRefused
		values["error"] = cause(err)
	case errors.Is(err, sshx.ErrNotSSH):
		code = ReasonHandshake
		values["error"] = cause(err)
	case errors.Is(err, sshx.ErrLost):
		code = ReasonLost
	default:
		values["error"] = cause(err)
	}
	return fleet.Because(code, values)
}

// quote gives the first words of what a login said, without the password and the
// token: some greetings repeat them.
func (l *line) quote(out []byte) string {
	said := string(out)
	for _, secret := range []string{l.access.Password, l.access.JupyterToken} {
		if secret != "" {
			said = strings.ReplaceAll(said, secret, "***")
		}
	}
	return look.Short(said)
}

// cause gives the innermost words of an error; what is around them only repeats
// the address.
func cause(err error) fleet.Value {
	if e, ok := errors.AsType[*sshx.Error](err); ok && e.Err != nil {
		err = e.Err
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fleet.Text(look.Short(err.Error()))
}
