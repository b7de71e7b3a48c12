package machines

import (
	"context"
	"errors"
	"sync"
	"time"

	"curfew/fleet"
)

// How many machines are asked side by side. One that is dark costs nothing but
// time, a login costs work on both sides.
const (
	readsAtOnce  = 128
	loginsAtOnce = 16
)

const (
	// listTime is how long a list takes at most, where nobody says how long it may.
	listTime = 28 * time.Second
	// spare is the part of the time for a list that is kept for handing it over.
	spare = 2 * time.Second
)

// Instances gives every declared machine. One that cannot be read is unknown, and
// so is one whose turn did not come in the time there is: no dark machine makes the
// list fail, or late. Only the machine curfew runs in must be readable.
func (m *Machines) Instances(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
	if s.Region != "" {
		return nil, &fleet.Error{Op: "machines: list " + s.Region, Kind: fleet.Invalid, Err: errors.New("declared machines have no region")}
	}
	within, cancel := context.WithTimeout(ctx, listTime)
	if deadline, ok := ctx.Deadline(); ok {
		cancel()
		within, cancel = context.WithDeadline(ctx, deadline.Add(-spare))
	}
	defer cancel()
	is, errs := make([]fleet.Instance, len(m.declared)), make([]error, len(m.declared))
	slots := make(chan struct{}, readsAtOnce)
	var wg sync.WaitGroup
	for n, d := range m.declared {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			is[n], errs[n] = m.read(ctx, within, d)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return is, nil
}
