package autodl

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"curfew/fleet"
)

// snapshot is the live detail of one instance: not a disk snapshot.
type snapshot struct {
	PaygPrice    *int64 `json:"payg_price"` // thousandths of a yuan per hour
	ExpandedDisk *int64 `json:"expand_system_disk_size"`
	SSHCommand   string `json:"ssh_command"`
	ProxyHost    string `json:"proxy_host"`
	SSHPort      port   `json:"ssh_port"`
	RootPassword string `json:"root_password"`
	JupyterToken string `json:"jupyter_token"`
}

// port is a number, written as one or as a string; 0 where it is neither.
type port int

// UnmarshalJSON never fails and never repeats what it read.
func (p *port) UnmarshalJSON(data []byte) error {
	*p = 0
	var s string
	if json.Unmarshal(data, &s) != nil {
		s = string(data)
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n <= 65535 {
		*p = port(n)
	}
	return nil
}

// Access tells how to log in. Port and password may differ after every boot.
func (a *account) Access(ctx context.Context, i fleet.Instance) (fleet.Access, error) {
	op := "autodl: access to " + i.Ref.ID
	var s snapshot
	if err := a.readOne(ctx, op, pathSnapshot, i.Ref.ID, &s); err != nil {
		return fleet.Access{}, err
	}
	acc := fleet.Access{Host: s.ProxyHost, Port: int(s.SSHPort), User: "root", Password: s.RootPassword, JupyterToken: s.JupyterToken}
	if host, p, user, ok := parseSSH(s.SSHCommand); ok {
		acc.Host, acc.Port, acc.User = host, p, user
	}
	if acc.Host == "" || acc.Port == 0 || strings.ContainsAny(acc.Host, " /@\t\n") || acc.Host[0] == '-' {
		return fleet.Access{}, &fleet.Error{Op: op, Kind: fleet.Transient, Err: errors.New("it has no SSH address yet")}
	}
	return acc, nil
}

// parseSSH reads "ssh -p 12345 root@host", as the console shows it.
func parseSSH(command string) (host string, p int, user string, ok bool) {
	words := strings.Fields(command)
	if len(words) == 0 || words[0] != "ssh" {
		return "", 0, "", false
	}
	p = 22
	for n := 1; n < len(words); n++ {
		if words[n] == "-p" && n+1 < len(words) {
			n++
			var given port
			_ = given.UnmarshalJSON([]byte(words[n])) // never fails; 0 is checked below
			p = int(given)
		} else if u, h, at := strings.Cut(words[n], "@"); at {
			user, host = u, h
		}
	}
	return host, p, user, host != "" && user != "" && p != 0
}

// addPrice fills in the price of a running instance. It is told for running
// ones only, and whether it is for one card or for all is not, so that it counts
// for one card alone. Without it the price is unknown, which fails nothing.
func (a *account) addPrice(ctx context.Context, i *fleet.Instance) {
	var s snapshot
	if a.readOne(ctx, "autodl: price of "+i.Ref.ID, pathSnapshot, i.Ref.ID, &s) != nil {
		return
	}
	if s.PaygPrice != nil && *s.PaygPrice > 0 && i.GPU.Count == 1 {
		i.Price = fleet.Price{PerHour: milliYuan(*s.PaygPrice), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	}
	if s.ExpandedDisk != nil && *s.ExpandedDisk == 0 {
		i.OnStop.StillCosts = fleet.Price{PerHour: fleet.CNY(0), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	}
}

// wallet is in thousandths of a yuan.
type wallet struct {
	Assets     *int64 `json:"assets"`
	Accumulate int64  `json:"accumulate"`
	Vouchers   int64  `json:"voucher_balance"`
}

// Balance reads the wallet.
func (a *account) Balance(ctx context.Context) (fleet.Wallet, error) {
	const op = "autodl: balance"
	var w wallet
	if err := a.read(ctx, op, pathBalance, nil, &w); err != nil {
		return fleet.Wallet{}, aboutNone(err)
	}
	if w.Assets == nil {
		// A missing balance is not an empty one.
		return fleet.Wallet{}, &fleet.Error{Op: op, Kind: fleet.Transient, Err: errors.New("answer holds no assets")}
	}
	return fleet.Wallet{
		Cash:     milliYuan(*w.Assets),
		Vouchers: milliYuan(w.Vouchers),
		Spent:    milliYuan(w.Accumulate),
	}, nil
}

func milliYuan(n int64) fleet.Money { return fleet.CNY(n * 1000) }
