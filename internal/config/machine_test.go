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

// elsewhere reads a file with one machine elsewhere, declared by the given keys.
func elsewhere(t *testing.T, keys, signals string) Account {
	t.Helper()
	c, err := Parse("curfew.yaml", []byte("accounts: [{name: own, provider: machines, route_check: 'gw:22', machines: [{name: box, host: lab-1"+keys+"}]}]\n"+signals), registry())
	if err != nil {
		t.Fatal(err)
	}
	return c.Accounts[0]
}

func TestAMachineElsewhereIsLoggedInToAsDeclared(t *testing.T) {
	const signals = "signals: [{type: ssh, user: somebody, key: {env: ALL}}]\n"
	env := func(name string) Secret { return Secret{from: secretEnv, name: name} }
	for _, c := range []struct {
		name, keys, signals string
		want                providers.Machine
		login               MachineLogin
	}{
		{"by a key of its own", ", key: {env: OWN}", signals, providers.Machine{Port: 22, User: "root"}, MachineLogin{Key: env("OWN")}},
		{"by a password", ", password: {env: OWN}, port: 41234, user: me", signals, providers.Machine{Port: 41234, User: "me"}, MachineLogin{Password: env("OWN")}},
		{"by the key of the ssh signal where it has none, but not as its user", "", signals, providers.Machine{Port: 22, User: "root"}, MachineLogin{Key: env("ALL")}},
		{"with what starts it, and its cards", ", key: {env: OWN}, start: wake, gpu: {model: RTX 4090, count: 8}", "",
			providers.Machine{Port: 22, User: "root", Start: "wake", GPU: fleet.GPU{Model: "RTX 4090", Count: 8}}, MachineLogin{Key: env("OWN")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Name, c.want.Host, c.want.Charge.Type = "box", "lab-1", fleet.ChargeOnDemand
			a := elsewhere(t, c.keys, c.signals)
			if diff := cmp.Diff([]providers.Machine{c.want}, a.Machines); diff != "" {
				t.Errorf("machine (-want +got):\n%s", diff)
			}
			if got := a.Logins["box"]; got != c.login || a.RouteCheck != "gw:22" {
				t.Errorf("key by %s, password by %s, route by %s", got.Key.Place(), got.Password.Place(), a.RouteCheck)
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
