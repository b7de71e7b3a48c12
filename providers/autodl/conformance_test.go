package autodl

import (
	"net/http/httptest"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
	"curfew/providers/autodl/autodltest"
	"curfew/providers/providertest"
)

func TestConformance(t *testing.T) {
	for name, decorate := range map[string]func(providers.Account) providers.Account{
		"bare": func(a providers.Account) providers.Account { return a },
		"decorated": func(a providers.Account) providers.Account {
			return a.With(providers.Timeout(time.Minute, time.Minute), providers.Stamp("autodl:lab"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, providertest.Opts{
				Kind: Kind(),
				Open: func(t *testing.T) providertest.Fake { return fake(t, decorate) },
			})
		})
	}
}

// paths are the requests that an operation is made of.
var paths = map[string][]string{
	"instances": {"pro/list"},
	"instance":  {"pro/list", "pro/status", "pro/snapshot"},
	"identity":  {"no such path"}, // no request is made
	"stop":      {"power_off"},
	"start":     {"power_on"},
	"release":   {"release"},
	"access":    {"pro/snapshot"},
	"balance":   {"wallet/balance"},
	"offers":    {"gpu_stock"},
	"order":     {"pro/create"},
}

func fake(t *testing.T, decorate func(providers.Account) providers.Account) providertest.Fake {
	c := &clock{t: noon}
	cloud := autodltest.New(autodltest.Options{Token: token, Now: c.Now, PageMax: 2})
	// The suite cuts requests off half-way, which must not be held against the
	// double's own checks, but every other problem is.
	srv := httptest.NewServer(cloud)
	t.Cleanup(func() {
		srv.Close()
		for _, p := range cloud.Problems() {
			t.Errorf("autodl double: %s", p)
		}
	})
	p := openAt(t, srv.URL, func(_ *providers.Options, h *httpx.Options) {
		h.RetryMax, h.RetryWait, h.RetryWaitMax = 1, time.Microsecond, time.Microsecond
	})
	kinds := map[providertest.FaultKind]autodltest.Fault{
		providertest.RateLimit:     {Kind: autodltest.RateLimit, RetryAfter: providertest.RetryIn},
		providertest.BadCredential: {Kind: autodltest.Refuse, Code: "AuthorizeFailed", Msg: "登录超时，请重新登录"},
		providertest.ServerError:   {Kind: autodltest.Status, Status: 500},
		providertest.HTML:          {Kind: autodltest.HTML},
		providertest.Truncated:     {Kind: autodltest.Truncated},
		providertest.DropBefore:    {Kind: autodltest.DropBefore},
		providertest.DropAfter:     {Kind: autodltest.DropAfter},
		providertest.Hang:          {Kind: autodltest.Hang},
		providertest.ShortList:     {Kind: autodltest.ShortList},
		providertest.SoldOut:       {Kind: autodltest.Refuse, Code: "InternalError", Msg: "当前算力规格暂无库存，请稍后再试"},
		providertest.LostRights:    {Kind: autodltest.Refuse, Code: "PermissionDenied", Msg: "无当前资源访问权限"},
		providertest.Quota:         {Kind: autodltest.Refuse, Code: "InternalError", Msg: "账户余额不足，请先充值"},
	}
	// One password stays the same over boots, so that it can be looked for.
	const password = "invented-root-password"
	return providertest.Fake{
		Account: decorate(providers.Collect("lab", Kind(), p)),
		Add: func(fleet.Scope) fleet.Ref {
			id := cloud.Add(autodltest.Machine{SSH: autodltest.SSH{Host: "127.0.0.1", Port: 22022, Password: password}})
			return fleet.Ref{Kind: fleet.KindInstance, ID: id}
		},
		Stock: func(model string, n int) {
			cloud.SetStock(autodltest.Stock{Region: "westDC3", Model: model, Idle: n})
		},
		Model:       "RTX 4090D",
		SetRawState: func(ref fleet.Ref, raw string) { cloud.SetStatus(ref.ID, raw) },
		Settle:      func() { c.pass(time.Minute) },
		Break: func(f providertest.Fault) {
			a, known := kinds[f.Kind]
			if !known {
				t.Fatalf("the double has no fault for %q", f.Kind)
			}
			a.Paths, a.After, a.Times, a.Reached = paths[f.Op], f.After, f.Times, f.Reached
			cloud.Fail(a)
		},
		PageSize:  2,
		UnknownID: "pro-00000000ffff",
		Secrets:   []string{token, password},
	}
}
