package ctl

import (
	"context"
	"time"

	"curfew/fleet"
)

const pathAccept = "/v1/accept-machine"

// AcceptRequest asks to examine a machine.
type AcceptRequest struct {
	Name string `json:"name"`
	By   string `json:"by"`
	// Bootstrap is a script that is run before; empty: that of the configuration, if it
	// was not run in this boot already.
	Bootstrap string `json:"bootstrap,omitempty"`
}

// AcceptAnswer is the answer of [API.AcceptMachine].
type AcceptAnswer struct {
	Now        time.Time        `json:"now"`
	Instance   fleet.Instance   `json:"instance"`
	Acceptance fleet.Acceptance `json:"acceptance"`
}

// AcceptMachine asks for [API.AcceptMachine].
func (c *Client) AcceptMachine(ctx context.Context, r AcceptRequest) (a AcceptAnswer, err error) {
	return a, c.post(ctx, pathAccept, r, &a)
}
