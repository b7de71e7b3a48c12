package app

import (
	"context"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/providers"
)

// secure does what must be done with an instance's data before an intent is carried
// out.
func (a *App) secure(_ context.Context, _ providers.Account, _ fleet.Intent, _ fleet.Instance) (execute.Answer, error) {
	return execute.Answer{Word: execute.Go}, nil
}

// secured tells for each of some terms whether the instance's data was secured as
// they ask, in its present Boot.
func secured(i fleet.Instance, verdicts []fleet.Verdict, all []fleet.Secured) []bool {
	out := make([]bool, len(verdicts))
	for n, v := range verdicts {
		out[n] = v.Terms.Data != nil && v.Terms.Data.Secured(i.Boot, v.Policy, all)
	}
	return out
}
