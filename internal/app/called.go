package app

import (
	"fmt"
	"strings"

	"curfew/fleet"
)

// Why a name says nothing, or too much.
const (
	ReasonNoInstance fleet.Code = "app.no-instance"
	ReasonNoThing    fleet.Code = "app.no-thing"
	ReasonNotOne     fleet.Code = "app.not-one"
)

// called reports whether somebody may mean the thing by the name.
func called(word string, ref fleet.Ref, account, name string) bool {
	return name == word || ref.String() == word || ref.ID == word || account+"/"+ref.ID == word
}

// oneCalled gives the only thing that is meant by the name; where there is none, the
// error is missing.
func oneCalled(name string, missing fleet.Code, all []fleet.Instance) (fleet.Instance, error) {
	var found []fleet.Instance
	for _, i := range all {
		if !called(name, i.Ref, i.AccountName, i.Name) {
			continue
		}
		if i.Name != name || i.Ref.String() == name {
			return i, nil
		}
		found = append(found, i)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return fleet.Instance{}, nothingCalled(name, missing)
	}
	refs := make([]string, 0, len(found))
	for _, i := range found {
		refs = append(refs, i.Ref.String())
	}
	which := strings.Join(refs, ", ")
	return fleet.Instance{}, &fleet.ReasonError{
		Reason: fleet.Because(ReasonNotOne, fleet.Values{
			"name": fleet.Text(name), "count": fleet.Number(float64(len(found))), "which": fleet.Text(which),
		}),
		Err: fmt.Errorf("%d are called %q; say which: %s", len(found), name, which),
	}
}

func nothingCalled(name string, missing fleet.Code) error {
	what := "instance"
	if missing == ReasonNoThing {
		what = "instance or resource"
	}
	return &fleet.ReasonError{
		Reason: fleet.Because(missing, fleet.Values{"name": fleet.Text(name)}),
		Err:    fmt.Errorf("there is no %s %q; curfew ls lists them", what, name),
	}
}
