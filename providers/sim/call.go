package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"curfew/fleet"
)

// apply is what a write does to the cloud: its effect, or why the platform
// refuses it.
type apply = func(now time.Time, f *Fault) (e Effect, refused fleet.ErrorKind, why string)

func shorten[T any](f *Fault, list []T) []T {
	switch {
	case f == nil || len(list) == 0:
	case f.Kind == EmptyList:
		return nil
	case f.Kind == ShortList:
		return list[:len(list)-1]
	}
	return list
}

func (p *provider) find(ref fleet.Ref) *machine {
	m := p.cloud.find(ref.ID)
	if m == nil || m.account != p.account || m.removed || p.cloud.ways.Incarnations && m.incarnation != ref.Incarnation {
		return nil
	}
	return m
}

func what(op string, ref fleet.Ref) string { return strings.TrimSpace("sim: " + op + " " + ref.ID) }

func (p *provider) read(ctx context.Context, op string, ref fleet.Ref, answer func(*Fault, time.Time) error) error {
	call, f, err := p.begin(ctx, op, ref)
	if err == nil && f != nil {
		err, _ = f.answer(ctx, what(op, ref), false)
	}
	if err == nil {
		p.cloud.mu.Lock()
		err = answer(f, p.cloud.tick())
		p.cloud.mu.Unlock()
	}
	p.cloud.end(call, err)
	return err
}

func (p *provider) write(ctx context.Context, op string, ref fleet.Ref, token string, do apply) (Effect, error) {
	call, f, err := p.begin(ctx, op, ref)
	var e Effect
	if err == nil {
		e, err = p.send(ctx, f, op, ref, token, do)
	}
	p.cloud.end(call, err)
	return e, err
}

func (p *provider) send(ctx context.Context, f *Fault, op string, ref fleet.Ref, token string, do apply) (Effect, error) {
	c := p.cloud
	if err := c.hook(op, ref, BeforeSend); err != nil {
		return Effect{}, err
	}
	var lost error
	if f != nil {
		err, effect := f.answer(ctx, what(op, ref), true)
		if !effect {
			return Effect{}, err
		}
		lost = err
	} else if ctx.Err() != nil {
		// The daemon may have given up while the request was under way.
		return Effect{}, &fleet.Error{Op: what(op, ref), Kind: fleet.OutcomeUnknown, Err: ctx.Err()}
	}
	e, err := p.effect(op, ref, token, f, do)
	if err == nil {
		if hooked := c.hook(op, ref, AfterEffect); hooked != nil {
			return e, hooked
		}
	}
	if lost != nil {
		return e, lost
	}
	return e, err
}

func (p *provider) effect(op string, ref fleet.Ref, token string, f *Fault, do apply) (Effect, error) {
	c := p.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	e, refused, why := do(now, f)
	if refused != "" {
		return Effect{}, &fleet.Error{Op: what(op, ref), Kind: refused, Err: errors.New(why)}
	}
	e.At, e.Account, e.Op, e.By, e.Token = now, p.account.Name, op, ByAPI, token
	c.effects = append(c.effects, e)
	return e, nil
}

// toMachine makes a write of what is done to an instance.
func (p *provider) toMachine(ref fleet.Ref, do func(*machine, time.Time) (fleet.ErrorKind, string)) apply {
	return func(now time.Time, _ *Fault) (Effect, fleet.ErrorKind, string) {
		m := p.find(ref)
		if m == nil {
			return Effect{}, fleet.NotFound, "there is no such instance"
		}
		refused, why := do(m, now)
		return Effect{Ref: p.cloud.ref(m)}, refused, why
	}
}

func (c *Cloud) hook(op string, ref fleet.Ref, phase Phase) error {
	c.mu.Lock()
	hook := c.onWrite
	c.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(op, ref, phase)
}

// begin records the call and finds the fault it meets.
func (p *provider) begin(ctx context.Context, op string, ref fleet.Ref) (call int, f *Fault, err error) {
	c := p.cloud
	c.mu.Lock()
	c.calls = append(c.calls, Call{At: c.tick(), Account: p.account.Name, Op: op, ID: ref.ID})
	call = len(c.calls) - 1
	if err = ctx.Err(); err != nil {
		err = &fleet.Error{Op: what(op, ref), Kind: fleet.Transient, Err: err}
	} else {
		f = c.fault(p.account.Name, op, ref)
	}
	c.mu.Unlock()
	if f != nil && f.Reached != nil {
		f.Reached()
	}
	return call, f, err
}

func (c *Cloud) end(call int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call].Err = err
}
