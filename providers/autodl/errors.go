package autodl

import (
	"errors"
	"strings"

	"curfew/fleet"
)

// refusal is AutoDL's own word for a failure.
type refusal struct {
	code, msg, requestID string
	// vague says that the code tells neither cause nor effect, so that the state
	// of the instance is worth a look.
	vague bool
}

func (r *refusal) Error() string {
	s := "AutoDL says " + r.code
	if r.msg != "" {
		s += ": " + r.msg
	}
	if r.requestID != "" {
		s += " (request " + r.requestID + ")"
	}
	return s
}

// refused turns a code other than Success into an error.
func (a *account) refused(op string, write bool, env envelope) error {
	kind, vague := kindOf(env.Code, env.Msg, write)
	return &fleet.Error{Op: op, Kind: kind, Err: &refusal{
		code:      a.redact.String(clip(env.Code)),
		msg:       a.redact.String(clip(env.Msg)),
		requestID: a.redact.String(clip(env.RequestID)),
		vague:     vague,
	}}
}

// kindOf gives the kind of a code. There is no official table, and one code
// covers stock shortage as well as real faults, so that the message counts too.
// vague is true where neither settles what happened.
func kindOf(code, msg string, write bool) (kind fleet.ErrorKind, vague bool) {
	switch code {
	case "AuthorizeFailed", "TORealName", "PermissionDenied":
		return fleet.Unauthorized, false
	case "RecordNotFoundError":
		return fleet.NotFound, false
	case "RequestParameterIsWrong":
		return fleet.Invalid, true
	}
	for _, m := range [...]struct {
		part string
		kind fleet.ErrorKind
	}{
		{"库存", fleet.OutOfStock},
		{"余额", fleet.Other},
		{"实名", fleet.Unauthorized},
		{"权限", fleet.Unauthorized},
		{"登录", fleet.Unauthorized},
		{"启动模式", fleet.Unsupported},
		{"频繁", fleet.RateLimited},
	} {
		if strings.Contains(msg, m.part) {
			return m.kind, false
		}
	}
	switch {
	case strings.Contains(msg, "参数"), code == "BadRequest":
		return fleet.Invalid, true
	case write:
		return fleet.OutcomeUnknown, true
	case code == "InternalError", code == "ServerError":
		return fleet.Transient, true
	}
	return fleet.Other, true
}

// clip keeps a message short enough for a chat line.
func clip(s string) string {
	const most = 200
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// aboutNone keeps "record not found" from being read off a call that names no
// instance: it must not count as an instance that is gone.
func aboutNone(err error) error {
	if e, ok := errors.AsType[*fleet.Error](err); ok && e.Kind == fleet.NotFound {
		return &fleet.Error{Op: e.Op, Kind: fleet.Other, Err: e.Err}
	}
	return err
}
