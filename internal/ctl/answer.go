package ctl

import (
	"context"
	"time"

	"curfew/fleet"
)

const (
	pathAnswer = "/v1/answer"
	pathSends  = "/v1/sends"
)

// AnswerRequest says that somebody knows of what was told of a thing.
type AnswerRequest struct {
	Name string `json:"name"` // of an instance, an account, an owner or a budget
	By   string `json:"by"`
}

// Answered is the answer of [API.Answer].
type Answered struct {
	Now time.Time `json:"now"`
	// Known is what was told of the thing and is not over: nobody is reminded of it any
	// more.
	Known []Lasting `json:"known"`
}

// Lasting is something that was told and is not over.
type Lasting struct {
	Ref      fleet.Ref      `json:"ref"`
	Name     string         `json:"name"` // what people call it
	Severity fleet.Severity `json:"severity"`
	Reason   fleet.Reason   `json:"reason"`
	Since    time.Time      `json:"since"`
}

// SendsRequest asks what was counted against a channel's quota.
type SendsRequest struct {
	Channel string    `json:"channel"`
	Since   time.Time `json:"since,omitzero"`
	// Sent counts one more message, that somebody else sent over the channel just now.
	Sent bool `json:"sent,omitempty"`
}

// SendsAnswer is the answer of [API.Sends].
type SendsAnswer struct {
	Now  time.Time   `json:"now"`
	Sent []time.Time `json:"sent,omitempty"` // oldest first
}

// Answer asks for [API.Answer].
func (c *Client) Answer(ctx context.Context, r AnswerRequest) (a Answered, err error) {
	return a, c.post(ctx, pathAnswer, r, &a)
}

// Sends asks for [API.Sends].
func (c *Client) Sends(ctx context.Context, r SendsRequest) (a SendsAnswer, err error) {
	return a, c.post(ctx, pathSends, r, &a)
}
