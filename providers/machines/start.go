package machines

import (
	"context"
	"errors"

	"curfew/fleet"
	"curfew/providers"
)

// Start runs the machine's declared command beside curfew: a machine that is off
// cannot run it itself. The command is told the machine's name and address by
// CURFEW_NAME and CURFEW_HOST. That the machine is up shows at its port.
func (m *Machines) Start(ctx context.Context, i fleet.Instance, o providers.StartOptions) error {
	d, err := m.find("start", i.Ref)
	if err != nil {
		return err
	}
	fail := failing("start", d)
	switch {
	case d.Start == "":
		return fail(fleet.Unsupported, errors.New("no start: is declared for it"))
	case o.NoGPU:
		return fail(fleet.Unsupported, errors.New("it cannot be started without its cards"))
	case ctx.Err() != nil:
		return fail(fleet.Transient, ctx.Err())
	}
	return runHere(ctx, d.Start, []string{"CURFEW_NAME=" + d.Name, "CURFEW_HOST=" + d.Host}, fail)
}
