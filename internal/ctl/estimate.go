package ctl

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/internal/estimate"
)

const pathEstimate = "/v1/estimate"

// EstimateRequest asks to reckon a job at the price of the instance it runs on, and to
// keep that; or to forget what was kept.
type EstimateRequest struct {
	Name   string          `json:"name"`
	By     string          `json:"by"`
	Job    estimate.Job    `json:"job,omitzero"`
	Margin estimate.Number `json:"margin,omitzero"` // a share: 0.2 is 20 %
	Forget bool            `json:"forget,omitempty"`
}

// EstimateAnswer is the answer of [API.Estimate].
type EstimateAnswer struct {
	Now      time.Time      `json:"now"`
	Instance fleet.Instance `json:"instance"`
	// Estimate is what was kept, or forgotten.
	Estimate fleet.Estimate `json:"estimate"`
	// Before is the estimate that this one replaced.
	Before   *fleet.Estimate `json:"before,omitempty"`
	Why      []fleet.Reason  `json:"why,omitempty"`      // what the sum was made of
	Warnings []fleet.Reason  `json:"warnings,omitempty"` // what to look at before believing it
}

// EstimateSoFar is an estimate beside what became of it.
type EstimateSoFar struct {
	fleet.Estimate
	Spent fleet.Money   `json:"spent"`          // by the instance, since it was stored
	Took  time.Duration `json:"took_ns"`        // since then
	Left  time.Duration `json:"left_ns"`        // of the time by the estimate
	Over  bool          `json:"over,omitempty"` // more was spent than it says with its margin
}

// Estimate asks for [API.Estimate].
func (c *Client) Estimate(ctx context.Context, r EstimateRequest) (a EstimateAnswer, err error) {
	return a, c.post(ctx, pathEstimate, r, &a)
}
