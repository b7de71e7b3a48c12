package machines_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/machines"
	"curfew/providers/providertest"
)

// act is the stop and the start of a machine: what it does shows after a while. A
// fault waits in a file for the next stop.
const act = `home=$1 name=$3
fault=$(cat "$home/fault" 2>/dev/null); rm -f "$home/fault"
if [ "$2" = start ]; then echo >>"$home/starts"; rm -f "$home/off-$name"; exit; fi
case $fault in
'server error') kill -9 $$;;
'drop before effect') kill -9 $PPID; exec sleep 60;;
'drop after effect') touch "$home/off-$name"; kill -9 $PPID; exec sleep 60;;
hang) touch "$home/hangs"; while [ -d "$home" ]; do sleep 0.02; done; exit;;
esac
touch "$home/off-$name"
`

// conform opens a room of machines whose network and power are the suite's.
func conform(t *testing.T) providertest.Fake {
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gate.Close() })
	l := newLab(t, func(o *providers.Options) { o.RouteCheck = gate.Addr().String() }, "a", "b", "c")
	_ = l.account.Close()
	script := filepath.Join(l.box.Home, "act")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(l.box.Home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("act", act)
	l.box.StandIn("cat", `case $1 in /proc/1/stat) echo "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 $((1000 + $(wc -l <~/starts))) 0 0";; *) exec /bin/cat "$@";; esac`)
	write("starts", "")
	o := providers.Options{Account: "own", RouteCheck: gate.Addr().String(), Now: func() time.Time { return l.now }}
	names := []string{"a", "b", "c"}
	for _, name := range names {
		order := func(verb string) string {
			return fmt.Sprintf("exec sh %s %s %s %s", script, l.box.Home, verb, name)
		}
		o.Machines = append(o.Machines, providers.Machine{
			Name: name, Host: l.proxies[name].Host, Port: l.proxies[name].Port, User: l.box.User, Key: string(l.box.KeyPEM),
			Stop: order("stop"), Start: order("start"), Charge: fleet.Charge{Type: fleet.ChargeOnDemand},
		})
	}
	m, err := machines.Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	var fault *providertest.Fault // of the network
	machines.SetDial(m, func(ctx context.Context, network, address string) (net.Conn, error) {
		f := fault
		switch {
		case f == nil || address == gate.Addr().String():
			return l.dial(ctx, network, address)
		case f.Kind == providertest.Hang:
			f.Reached()
			<-ctx.Done()
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	})
	l.account = providers.Collect("own", machines.Kind(), m)
	hangUp := func() {
		for _, p := range l.proxies {
			p.Break()
		}
	}
	given, once := 0, false
	return providertest.Fake{
		Account: l.account,
		Add: func(fleet.Scope) fleet.Ref {
			given++
			return fleet.Ref{Kind: fleet.KindInstance, ID: names[given-1]}
		},
		Settle: func() {
			if once {
				l.box.Lock(false)
			}
			for _, name := range names {
				if l.left("off-" + name) {
					l.fail(name, refused)
				} else {
					l.fail(name, nil)
				}
			}
			l.now = l.now.Add(time.Minute)
			l.list()
			l.now = l.now.Add(2 * time.Minute)
		},
		Break: func(f providertest.Fault) {
			switch {
			case f.Kind == providertest.BadCredential:
				l.box.Lock(true)
				once = f.Times == 1
				hangUp()
			case f.Op == "stop" || f.Op == "start":
				write("fault", string(f.Kind))
				if f.Op == "start" {
					write("act", strings.Replace(act, `if [ "$2" = start ]`, `if false`, 1))
				}
				if f.Reached != nil {
					_ = os.Remove(filepath.Join(l.box.Home, "hangs"))
					go func() {
						for !l.left("hangs") && t.Context().Err() == nil {
							time.Sleep(5 * time.Millisecond)
						}
						f.Reached()
					}()
				}
			case f.Kind == providertest.ServerError:
				l.box.StandIn("cat", "exit 1")
			default:
				fault = &f
				hangUp()
			}
		},
		UnknownID: "d",
		Secrets:   []string{strings.Split(string(l.box.KeyPEM), "\n")[1]},
	}
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	providertest.Run(t, providertest.Opts{
		Kind: machines.Kind(), Open: conform,
		Lacks: map[providertest.Behaviour]string{
			providertest.API:         "there is no platform",
			providertest.Lists:       "the configuration says what there is",
			providertest.Words:       "what answers is the state",
			providertest.Pages:       "a list is the declaration",
			providertest.ShortPages:  "a list is the declaration",
			providertest.ReadsFail:   "a declared machine is always listed; what cannot be read is unknown",
			providertest.RetryAfter:  "nobody limits rates",
			providertest.RateLimits:  "nobody limits rates",
			providertest.Speaks:      "SSH proves what it carries",
			providertest.AccessByAPI: "the configuration says how to log in",
			providertest.StartsByAPI: "a start is a command of the user's",
		},
	})
}
