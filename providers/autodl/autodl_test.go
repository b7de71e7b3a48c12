package autodl

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
)

func TestListOnTheWire(t *testing.T) {
	a := openAt(t, recorded(t,
		exchange{want: listPage1, file: "list-page1.json"},
		exchange{want: listPage2, file: "list-page2.json"},
	), func(o *providers.Options, _ *httpx.Options) {
		o.Prices = map[string]fleet.Money{"rtx 4090d": fleet.CNY(1_980_000)}
	})
	got, err := a.Instances(t.Context(), a.Scopes()[0])
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		tm, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return tm.UTC()
	}
	ref := func(id string) fleet.Ref { return fleet.Ref{Kind: fleet.KindInstance, ID: id} }
	want := []fleet.Instance{
		{
			Ref: ref("pro-000000000a01"), Boot: "t20260905T013012", Name: "exp-llama",
			State: fleet.StateRunning, RawState: "running", Region: "bj-B2",
			Charge:    fleet.Charge{Type: fleet.ChargeOnDemand},
			GPU:       fleet.GPU{Model: "RTX 4090D", Count: 2, MemoryGB: 24},
			Price:     fleet.Price{PerHour: fleet.CNY(3_960_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceConfig},
			OnStop:    fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll},
			CreatedAt: at("2026-09-01T10:00:00+08:00"), StartedAt: at("2026-09-05T09:30:12+08:00"),
			StopsAt: at("2026-09-06T02:00:00+08:00"),
		},
		{
			Ref: ref("pro-000000000a02"), Boot: "t20260901T000000",
			State: fleet.StateStopped, RawState: "shutdown", Region: "西北B区",
			Charge:    fleet.Charge{Type: fleet.ChargeOnDemand},
			GPU:       fleet.GPU{Model: "RTX PRO 6000", Count: 1, MemoryGB: 96},
			OnStop:    fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll},
			CreatedAt: at("2026-08-20T08:00:00+08:00"), StartedAt: at("2026-09-01T08:00:00+08:00"),
			StoppedAt: at("2026-09-01T20:00:00+08:00"), ReleasesAt: at("2026-09-16T20:00:00+08:00"),
		},
		{
			Ref: ref("pro-000000000a03"), Boot: "t20260731T160100", Name: "monthly",
			State: fleet.StateUnknown, RawState: "powering_on_v9", Region: "west-DC3",
			Charge:    fleet.Charge{Type: fleet.ChargePeriod, End: at("2026-10-01T00:00:00+08:00")},
			GPU:       fleet.GPU{Model: "h900-x", Count: 1},
			OnStop:    fleet.OnStop{EndsBilling: fleet.No, KeepsData: fleet.KeepsAll},
			CreatedAt: at("2026-08-01T00:00:00+08:00"), StartedAt: at("2026-08-01T00:01:00+08:00"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestWritesOnTheWire(t *testing.T) {
	ok := envelopeOf(t, "Success", "", nil)
	a := openAt(t, recorded(t,
		exchange{want: `POST /api/v1/dev/instance/pro/power_off {"instance_uuid":"pro-1"}`, body: ok},
		exchange{want: `POST /api/v1/dev/instance/pro/power_on {"instance_uuid":"pro-1","payload":"gpu"}`, body: ok},
		exchange{want: `POST /api/v1/dev/instance/pro/release {"instance_uuid":"pro-1"}`, body: ok},
	), nil)
	i := fleet.Instance{Ref: fleet.Ref{Kind: fleet.KindInstance, ID: "pro-1"}}
	for name, err := range map[string]error{
		"stop":    a.Stop(t.Context(), i, providers.StopOptions{Token: "t"}),
		"start":   a.Start(t.Context(), i, providers.StartOptions{Token: "t"}),
		"release": a.Release(t.Context(), i, providers.ReleaseOptions{Token: "t"}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBalanceOnTheWire(t *testing.T) {
	a := openAt(t, recorded(t, exchange{want: "POST /api/v1/dev/wallet/balance", file: "balance.json"}), nil)
	got, err := a.Balance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := fleet.Wallet{Cash: fleet.CNY(123_456_000), Vouchers: fleet.CNY(5_000_000), Spent: fleet.CNY(9_876_543_000)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wallet (-want +got):\n%s", diff)
	}
}

func TestMissingBalanceIsNotAnEmptyWallet(t *testing.T) {
	for _, data := range []any{nil, map[string]any{}, map[string]any{"accumulate": 5}} {
		a := openAt(t, recorded(t, exchange{want: "POST /api/v1/dev/wallet/balance", body: envelopeOf(t, "Success", "", data)}), nil)
		if w, err := a.Balance(t.Context()); fleet.KindOf(err) != fleet.Transient {
			t.Errorf("data %v gave %v and %v, want a Transient error", data, w, err)
		}
	}
}

func TestAccessOnTheWire(t *testing.T) {
	a := openAt(t, recorded(t, exchange{want: "GET /api/v1/dev/instance/pro/snapshot?instance_uuid=pro-1", file: "snapshot.json"}), nil)
	got, err := a.Access(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: "pro-1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := fleet.Access{Host: "connect.bjb2.example.invalid", Port: 41234, User: "root", Password: "invented-pw-1", JupyterToken: "invented-jt-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
}

func TestAccessForms(t *testing.T) {
	for _, tc := range []struct {
		name string
		data map[string]any
		want fleet.Access
		kind fleet.ErrorKind
	}{
		{"host and port alone", map[string]any{"proxy_host": "h", "ssh_port": 99, "root_password": "p"}, fleet.Access{Host: "h", Port: 99, User: "root", Password: "p"}, ""},
		{"a port written as a string", map[string]any{"proxy_host": "h", "ssh_port": "99"}, fleet.Access{Host: "h", Port: 99, User: "root"}, ""},
		{"the command alone", map[string]any{"ssh_command": "ssh -p 7 me@h"}, fleet.Access{Host: "h", Port: 7, User: "me"}, ""},
		{"a command without a port", map[string]any{"ssh_command": "ssh me@h"}, fleet.Access{Host: "h", Port: 22, User: "me"}, ""},
		{"a command that cannot be read falls back to the fields", map[string]any{"ssh_command": "ssh -p x me@h", "proxy_host": "h2", "ssh_port": 5}, fleet.Access{Host: "h2", Port: 5, User: "root"}, ""},
		{"nothing yet", map[string]any{"ssh_command": "", "proxy_host": "", "ssh_port": 0}, fleet.Access{}, fleet.Transient},
		{"a port beyond ports", map[string]any{"proxy_host": "h", "ssh_port": 70000}, fleet.Access{}, fleet.Transient},
		{"a host that would be an option", map[string]any{"proxy_host": "-oProxyCommand=x", "ssh_port": 5}, fleet.Access{}, fleet.Transient},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := openAt(t, recorded(t, exchange{want: "GET /api/v1/dev/instance/pro/snapshot?instance_uuid=pro-1", body: envelopeOf(t, "Success", "", tc.data)}), nil)
			got, err := a.Access(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: "pro-1"}})
			if fleet.KindOf(err) != tc.kind {
				t.Fatalf("error %v, want kind %q", err, tc.kind)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("access (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQueryRefusedIsAskedWithABody(t *testing.T) {
	refused := envelopeOf(t, "RequestParameterIsWrong", "请求参数错误", nil)
	t.Run("once, and the answer counts", func(t *testing.T) {
		a := openAt(t, recorded(t,
			exchange{want: "GET /api/v1/dev/instance/pro/status?instance_uuid=pro-1", body: refused},
			exchange{want: `GET /api/v1/dev/instance/pro/status {"instance_uuid":"pro-1"}`, body: envelopeOf(t, "Success", "", "running")},
		), nil)
		if got, err := a.status(t.Context(), "pro-1"); err != nil || got != "running" {
			t.Errorf("got %q and %v, want running", got, err)
		}
	})
	t.Run("and no further when that is refused as well", func(t *testing.T) {
		a := openAt(t, recorded(t,
			exchange{want: "GET /api/v1/dev/instance/pro/status?instance_uuid=pro-1", body: refused},
			exchange{want: `GET /api/v1/dev/instance/pro/status {"instance_uuid":"pro-1"}`, body: refused},
		), nil)
		if _, err := a.status(t.Context(), "pro-1"); fleet.KindOf(err) != fleet.Invalid {
			t.Errorf("got %v, want Invalid", err)
		}
	})
	t.Run("never for any other refusal", func(t *testing.T) {
		a := openAt(t, recorded(t,
			exchange{want: "GET /api/v1/dev/instance/pro/status?instance_uuid=pro-1", body: envelopeOf(t, "RecordNotFoundError", "", nil)},
		), nil)
		if _, err := a.status(t.Context(), "pro-1"); fleet.KindOf(err) != fleet.NotFound {
			t.Errorf("got %v, want NotFound", err)
		}
	})
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		o    providers.Options
		want string
	}{
		"no token": {providers.Options{}, "开发者Token"},
		"regions":  {providers.Options{Credential: map[string]string{"token": token}, Regions: []string{"bj-B2"}}, "leave regions out"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Kind().Open(tc.o)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), token) {
				t.Errorf("got %v, want an error saying %q", err, tc.want)
			}
		})
	}
}

func TestMoment(t *testing.T) {
	want := time.Date(2026, 9, 5, 1, 30, 12, 0, time.UTC)
	for in, tc := range map[string]struct {
		want       time.Time
		unreadable bool
	}{
		`null`: {}, `""`: {},
		`{"Time":"2026-09-05T09:30:12+08:00","Valid":true}`:  {want, false},
		`{"Time":"2026-09-05T09:30:12+08:00","Valid":false}`: {},
		`{"Time":"0001-01-01T00:00:00Z","Valid":true}`:       {},
		`"2026-09-05T09:30:12+08:00"`:                        {want, false},
		`"2026-09-05T01:30:12Z"`:                             {want, false},
		`"2026-09-05T09:30:12"`:                              {want, false},
		`"2026-09-05 09:30:12"`:                              {want, false},
		`"0001-01-01T00:00:00Z"`:                             {},
		`"yesterday"`:                                        {time.Time{}, true},
		`1757035812`:                                         {time.Time{}, true},
		`{"Time":"2026-09-05T09:30:12+08:00"}`:               {time.Time{}, true},
	} {
		var m moment
		if err := m.UnmarshalJSON([]byte(in)); err != nil || !m.Equal(tc.want) || m.unreadable != tc.unreadable {
			t.Errorf("%s is %s, unreadable %t (%v); want %s, %t", in, m.Time, m.unreadable, err, tc.want, tc.unreadable)
		}
	}
}
