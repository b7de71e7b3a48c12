// Package autodl is the adapter to AutoDL's official API for "容器实例 Pro"
// instances. Instances rented on the market page never appear there.
//
// Reading costs little: one list request per hundred instances holds all that a
// poll needs. Details with addresses and the first password (which AutoDL calls
// a snapshot) are read only by Access, and for the price of a running instance
// whose price the configuration does not give.
package autodl

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-resty/resty/v2"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
)

// ReasonOnlyPro says why an AutoDL list may be empty although the user has
// instances.
const ReasonOnlyPro fleet.Code = "provider.autodl-only-pro"

// ReasonAtZero says what AutoDL does when nothing is left. The documents do not: two
// users' logs show instances that were powered off, and notes of users tell of disks
// that were kept for a while; the amount and the time are not known.
const ReasonAtZero fleet.Code = "provider.autodl-at-zero"

// keptFor is how long AutoDL keeps an instance that is powered off; any boot
// starts the time anew.
const keptFor = 15 * 24 * time.Hour

// Kind describes AutoDL.
func Kind() providers.Kind {
	return providers.Kind{
		Name:        "autodl",
		Title:       "AutoDL (Pro)",
		Credentials: []string{"token"},
		DefaultURL:  "https://api.autodl.com",
		Capabilities: []providers.Capability{
			providers.CanStop, providers.CanStart, providers.CanRelease, providers.CanAccess, providers.CanWallet,
			providers.CanStock, providers.CanOrder,
		},
		// The meter ends with the power cycle; no answer speaks of the bill itself.
		BillingProof: providers.ProofState,
		AutoRelease:  keptFor,
		// Not measured: stops were seen to take seconds.
		SettleTime: 30 * time.Second,
		Floor:      20 * time.Second,
		// No limit is published: what its users' programs keep to between two tries.
		StockFloor:    30 * time.Second,
		StockAdvisory: true,
		EmptyNote:     ReasonOnlyPro,
		AtZero:        ReasonAtZero,
		Open:          open,
	}
}

// account is one opened developer token.
type account struct {
	name   string
	http   *resty.Client
	redact *httpx.Redactor
	prices map[string]fleet.Money
	now    func() time.Time
}

var (
	_ providers.Provider = (*account)(nil)
	_ providers.Stopper  = (*account)(nil)
	_ providers.Starter  = (*account)(nil)
	_ providers.Releaser = (*account)(nil)
	_ providers.Access   = (*account)(nil)
	_ providers.Wallet   = (*account)(nil)
	_ providers.Stock    = (*account)(nil)
	_ providers.Orderer  = (*account)(nil)
)

func open(o providers.Options) (providers.Provider, error) {
	token := o.Credential["token"]
	if token == "" {
		return nil, errors.New("autodl: token is empty; create a developer token in the console under 设置, 开发者Token")
	}
	if len(o.Regions) > 0 {
		return nil, errors.New("autodl: one list holds all regions; leave regions out and match by region instead")
	}
	client := o.HTTP(func(req *http.Request) error {
		req.Header.Set("Authorization", token)
		return nil
	})
	client.SetBaseURL(o.BaseURL)
	client.SetAllowGetMethodPayload(true)
	return &account{
		name:   o.Account,
		http:   client,
		redact: httpx.NewRedactor(func() []string { return []string{token} }),
		prices: o.Prices,
		now:    o.Now,
	}, nil
}

// Scopes gives the one scope there is: a list covers all regions.
func (a *account) Scopes() []fleet.Scope { return []fleet.Scope{{Account: a.name}} }

// Identity gives nothing: no call of the API names the account.
func (a *account) Identity(context.Context) (string, error) { return "", nil }
