package ctl

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"curfew/internal/ledger"
)

const pathCost = "/v1/cost"

// CostQuery asks what everything cost in [From, To).
type CostQuery struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	By   ledger.By `json:"by"`
	// Check compares each wallet with the ledger as well.
	Check bool `json:"check,omitempty"`
}

// CostAnswer is the answer of [API.Cost].
type CostAnswer struct {
	Now time.Time `json:"now"`
	ledger.Costs
	Saved ledger.Saved `json:"saved"`
	// Stale are accounts that were not read for a while: what was there is counted as
	// if nothing had changed since.
	Stale  []StaleAccount `json:"stale,omitempty"`
	Checks []WalletCheck  `json:"checks,omitempty"` // where they were asked for
	Bills  []BillCheck    `json:"bills,omitempty"`  // likewise, of accounts whose bill can be read
}

// StaleAccount is an account, and when it was last read.
type StaleAccount struct {
	Account string    `json:"account"`
	At      time.Time `json:"at"`
}

// WalletCheck compares one wallet with the ledger.
type WalletCheck struct {
	Account  string            `json:"account"`
	Identity string            `json:"identity"`
	Days     []ledger.DayCheck `json:"days,omitempty"` // none: the wallet was never read in that time
	// Kept are the names of what is stopped or kept, which may be what costs more than
	// is known.
	Kept []string `json:"kept,omitempty"`
}

// BillCheck compares one platform's bill with the ledger.
type BillCheck struct {
	Account  string `json:"account"`
	Identity string `json:"identity"`
	// Lag is how long after a day its bill may be incomplete.
	Lag   time.Duration    `json:"lag_ns"`
	Items []ledger.BillSum `json:"items,omitempty"` // of all days together
	Days  []ledger.BillDay `json:"days,omitempty"`  // none: no bill of that time was read yet
}

// Cost asks for [API.Cost].
func (c *Client) Cost(ctx context.Context, q CostQuery) (a CostAnswer, err error) {
	v := url.Values{"from": {q.From.Format(time.RFC3339)}, "to": {q.To.Format(time.RFC3339)}, "by": {string(q.By)}}
	if q.Check {
		v.Set("check", "true")
	}
	return a, c.get(ctx, pathCost, v, &a)
}

func costQuery(r *http.Request) (q CostQuery, err error) {
	v := r.URL.Query()
	for key, to := range map[string]*time.Time{"from": &q.From, "to": &q.To} {
		if *to, err = time.Parse(time.RFC3339, v.Get(key)); err != nil {
			return q, &badRequestError{fmt.Errorf("%s: %w", key, err)}
		}
	}
	if q.By = ledger.By(v.Get("by")); !slices.Contains(ledger.Groupings(), q.By) {
		return q, &badRequestError{fmt.Errorf("by: costs are not grouped by %q", q.By)}
	}
	if s := v.Get("check"); s != "" {
		if q.Check, err = strconv.ParseBool(s); err != nil {
			return q, &badRequestError{fmt.Errorf("check: %w", err)}
		}
	}
	return q, nil
}
