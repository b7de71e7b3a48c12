package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func (d *desk) accepted(id, region string) (a fleet.Acceptance) {
	d.t.Helper()
	d.do(func(tx *Tx) error {
		a = fleet.Acceptance{
			Ref: ref(id), Boot: "n1", By: "wang", At: tx.Now, Provider: "sim", Region: region, GPU: "RTX 4090",
			Fails: []fleet.Reason{fleet.Because("accept.told", nil)}, Measured: map[string]float64{"disk": 5e8},
		}
		return tx.SaveAcceptance(&a)
	})
	return a
}

func TestAcceptancesAreReadByMachineAndByPlace(t *testing.T) {
	d := open(t)
	first, other, second := d.accepted("a", "west"), d.accepted("b", "east"), d.accepted("a", "west")
	for name, c := range map[string]struct {
		read func() ([]fleet.Acceptance, error)
		want []fleet.Acceptance
	}{
		"of a":          {func() ([]fleet.Acceptance, error) { return d.Acceptances(t.Context(), ref("a"), 10) }, []fleet.Acceptance{second, first}},
		"of a boot":     {func() ([]fleet.Acceptance, error) { return d.AcceptancesIn(t.Context(), ref("a"), "n1") }, []fleet.Acceptance{second, first}},
		"of another's":  {func() ([]fleet.Acceptance, error) { return d.AcceptancesIn(t.Context(), ref("a"), "n2") }, nil},
		"the newest":    {func() ([]fleet.Acceptance, error) { return d.Acceptances(t.Context(), ref("a"), 1) }, []fleet.Acceptance{second}},
		"of a region":   {func() ([]fleet.Acceptance, error) { return d.AcceptancesOf(t.Context(), "sim", "east", 10) }, []fleet.Acceptance{other}},
		"of a platform": {func() ([]fleet.Acceptance, error) { return d.AcceptancesOf(t.Context(), "sim", "", 2) }, []fleet.Acceptance{second, other}},
		"of another":    {func() ([]fleet.Acceptance, error) { return d.AcceptancesOf(t.Context(), "autodl", "", 2) }, nil},
	} {
		got, err := c.read()
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(fleet.Value{})); err != nil || diff != "" {
			t.Errorf("%s (%v, -want +got):\n%s", name, err, diff)
		}
	}
}

// They tell of a place, also when the machine is gone.
func TestAcceptancesGoWithTheHistoryAlone(t *testing.T) {
	d := open(t)
	d.accepted("gone", "west")
	const keep = 60 * 24 * time.Hour
	for _, kept := range []int{1, 0} {
		d.do(func(tx *Tx) error { return tx.Prune(keep) })
		if got, err := d.Acceptances(t.Context(), ref("gone"), 10); err != nil || len(got) != kept {
			t.Errorf("%d are kept, want %d (%v)", len(got), kept, err)
		}
		d.pass(keep + time.Second)
	}
}
