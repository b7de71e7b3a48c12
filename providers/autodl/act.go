package autodl

import (
	"context"
	"errors"
	"fmt"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
)

type powerOn struct {
	UUID    string `json:"instance_uuid"`
	Payload string `json:"payload"`
}

// Stop powers the instance off. AutoDL knows no idempotency token; a second
// power-off is refused by it, which is reported as Conflict.
func (a *account) Stop(ctx context.Context, i fleet.Instance, _ providers.StopOptions) error {
	return a.act(ctx, "power off", pathPowerOff, i.Ref.ID, "running", oneInstance{i.Ref.ID})
}

// Start powers the instance on, with its cards: the API has no boot without.
func (a *account) Start(ctx context.Context, i fleet.Instance, o providers.StartOptions) error {
	if o.NoGPU {
		return &fleet.Error{
			Op: "autodl: power on " + i.Ref.ID, Kind: fleet.Unsupported,
			Err: errors.New("the API cannot boot without a GPU; nothing was sent"),
		}
	}
	return a.act(ctx, "power on", pathPowerOn, i.Ref.ID, "shutdown", powerOn{i.Ref.ID, "gpu"})
}

// Release gives the instance and its disks back for good. AutoDL wants it to be
// shut down first; before that the answer is Conflict. There is nothing that
// could be kept or taken along: the options say nothing here.
func (a *account) Release(ctx context.Context, i fleet.Instance, _ providers.ReleaseOptions) error {
	return a.act(ctx, "release", pathRelease, i.Ref.ID, "shutdown", oneInstance{i.Ref.ID})
}

// act sends a write. AutoDL's codes do not tell "not in this state" from other
// refusals, so that after a vague one the status is read: any but the one the
// write needs is a Conflict.
func (a *account) act(ctx context.Context, verb, path, uuid, needs string, body any) error {
	op := "autodl: " + verb + " " + uuid
	if uuid == "" {
		return &fleet.Error{Op: op, Kind: fleet.Invalid, Err: errors.New("no instance was named; nothing was sent")}
	}
	err := a.write(ctx, op, path, body)
	r, ok := errors.AsType[*refusal](err)
	if !ok || !r.vague {
		return err
	}
	status, unread := a.status(httpx.WithClass(ctx, httpx.Act), uuid)
	switch {
	case fleet.KindOf(unread) == fleet.NotFound:
		return &fleet.Error{Op: op, Kind: fleet.NotFound, Err: r}
	case unread != nil, state(status) == fleet.StateUnknown, status == needs:
		return err
	}
	return &fleet.Error{Op: op, Kind: fleet.Conflict, Err: fmt.Errorf("its status is %s, not %s: %w", status, needs, r)}
}
