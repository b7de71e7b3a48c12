package doctor

import (
	"curfew/fleet"
)

// Of accounts.
const (
	ReasonAccountFine   fleet.Code = "doctor.account-fine"
	ReasonAccountBad    fleet.Code = "doctor.account-bad"
	ReasonAccountBudget fleet.Code = "doctor.account-budget"
	StepIdentity        fleet.Code = "doctor.step-identity"
	StepList            fleet.Code = "doctor.step-list"
	StepWallet          fleet.Code = "doctor.step-wallet"
	DoCredential        fleet.Code = "doctor.do-credential"
	DoUnauthorized      fleet.Code = "doctor.do-unauthorized"
	DoRateLimited       fleet.Code = "doctor.do-rate-limited"
	DoBanned            fleet.Code = "doctor.do-banned"
	DoNetwork           fleet.Code = "doctor.do-network"
	DoBudget            fleet.Code = "doctor.do-budget"
	DoReport            fleet.Code = "doctor.do-report"
)

// budgetLow is the share of a day's requests from which watching is about to stop,
// in percent.
const budgetLow = 75

// Account is what was found out about an account.
type Account struct {
	Name, Provider string
	Credential     string // where it is kept, in words; empty: it has none
	Opened         bool
	Err            error
	Step           fleet.Code // where it failed; empty: before anybody was asked
	Instances      int
	Note           fleet.Reason // why the list may be empty
	Left           string       // what the wallet holds; empty: not told
	Used, Limit    int          // requests of this day; no limit: 0
}

// AccountResults judges an account.
func AccountResults(a Account) []Result {
	if a.Err != nil {
		v := fleet.Values{"why": fleet.Text(a.Err.Error())}
		if a.Step != "" {
			v["step"] = fleet.Nested(fleet.Because(a.Step, nil))
		}
		return []Result{bad(CheckAccount, a.Name, fleet.Because(ReasonAccountBad, v), a.remedy())}
	}
	v := fleet.Values{"count": fleet.Number(float64(a.Instances))}
	if a.Left != "" {
		v["left"] = fleet.Text(a.Left)
	}
	if !a.Note.IsZero() {
		v["note"] = fleet.Nested(a.Note)
	}
	out := []Result{fine(CheckAccount, a.Name, fleet.Because(ReasonAccountFine, v))}
	if a.Limit > 0 {
		used := fleet.Because(ReasonAccountBudget, fleet.Values{"used": fleet.Number(float64(a.Used)), "limit": fleet.Number(float64(a.Limit))})
		if a.Used*100 >= a.Limit*budgetLow {
			out = append(out, warn(CheckAccount, a.Name, used, fleet.Because(DoBudget, nil)))
		} else {
			out = append(out, fine(CheckAccount, a.Name, used))
		}
	}
	return out
}

// remedy says what to do about the error, by its kind.
func (a Account) remedy() fleet.Reason {
	kind := fleet.KindOf(a.Err)
	switch {
	case !a.Opened:
		return fleet.Because(DoCredential, nil)
	case kind == fleet.Unauthorized || kind == fleet.ReadOnly:
		v := fleet.Values{"provider": fleet.Text(a.Provider)}
		if a.Credential != "" {
			v["place"] = fleet.Text(a.Credential)
		}
		return fleet.Because(DoUnauthorized, v)
	case kind == fleet.RateLimited:
		return fleet.Because(DoRateLimited, nil)
	case kind == fleet.Banned:
		return fleet.Because(DoBanned, fleet.Values{"provider": fleet.Text(a.Provider)})
	case kind == fleet.Transient:
		return fleet.Because(DoNetwork, nil)
	}
	return fleet.Because(DoReport, fleet.Values{"provider": fleet.Text(a.Provider)})
}
