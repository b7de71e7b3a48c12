package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers"
)

// machine reads a file with one machine, declared by the given keys.
func machine(t *testing.T, keys string) providers.Machine {
	t.Helper()
	c, err := Parse("curfew.yaml", []byte("timezone: Asia/Shanghai\naccounts: [{name: own, provider: machines, machines: [{name: box, host: local"+keys+"}]}]\n"), registry())
	if err != nil {
		t.Fatal(err)
	}
	return c.Accounts[0].Machines[0]
}

func TestAMachineIsWhatItsDeclarationSays(t *testing.T) {
	price := func(b fleet.Billing) fleet.Price {
		return fleet.Price{PerHour: fleet.CNY(1_980_000), Billing: b, Source: fleet.PriceConfig}
	}
	byUse := fleet.Charge{Type: fleet.ChargeOnDemand}
	end := time.Date(2027, 1, 31, 16, 0, 0, 0, time.UTC) // midnight in Shanghai
	for _, c := range []struct {
		name, keys string
		want       providers.Machine
	}{
		{"nothing but its name", "", providers.Machine{Charge: byUse}},
		{"a stop that is known to keep all", ", stop: 'a | b', on_stop: {ends_billing: yes, keeps_data: all}, auto_release: 15d", providers.Machine{
			Stop: "a | b", Charge: byUse, OnStop: fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll, ReleasesAfter: 15 * 24 * time.Hour}}},
		{"a stop of which little is known", ", stop: poweroff, on_stop: {ends_billing: no, keeps_data: unknown}", providers.Machine{
			Stop: "poweroff", Charge: byUse, OnStop: fleet.OnStop{EndsBilling: fleet.No}}},
		{"a price", ", price: 1.98 CNY", providers.Machine{Charge: byUse, Price: price(fleet.BillingUnknown)}},
		{"a price of started hours", ", price: 1.98 CNY, per: hour, billing: hour", providers.Machine{Charge: byUse, Price: price(fleet.BillingPerHour)}},
		{"paid for until a day, that day too", ", price: 1.98 CNY, expires: 2027-01-31", providers.Machine{
			Charge: fleet.Charge{Type: fleet.ChargePeriod, End: end}, Price: price(fleet.BillingPrepaid)}},
		{"paid for at a price nobody knows", ", expires: 2027-01-31", providers.Machine{Charge: fleet.Charge{Type: fleet.ChargePeriod, End: end}}},
		{"paid by use, and taken away on a day", ", price: 1.98 CNY, billing: second, expires: 2027-01-31", providers.Machine{
			Charge: byUse, Price: price(fleet.BillingPerSecond), ReleasesAt: end}},
		{"labels", ", labels: {curfew: keep}", providers.Machine{Charge: byUse, Labels: map[string]string{"curfew": "keep"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Name, c.want.Here = "box", true
			if diff := cmp.Diff(c.want, machine(t, c.keys), cmp.Comparer(time.Time.Equal)); diff != "" {
				t.Errorf("machine (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALocalLookNeedsThisMachine(t *testing.T) {
	_, err := Parse("curfew.yaml", []byte("accounts: [{name: lab, provider: autodl, token: {env: T}}]\nsignals: [{type: local}]\n"), registry())
	const want = "curfew.yaml:2:18: signals[0].type: looks at the machine curfew runs in, and none is declared; declare it: provider: machines with host: local"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
