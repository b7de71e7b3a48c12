package machines

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"curfew/fleet"
	"curfew/internal/look"
	"curfew/internal/sshx"
	"curfew/providers"
)

// Why the state of a machine is unknown.
const (
	ReasonLate     fleet.Code = "provider.machines-late"      // its turn did not come in time
	ReasonNoWay    fleet.Code = "provider.machines-no-way"    // our own side cannot reach it
	ReasonNoLogin  fleet.Code = "provider.machines-no-login"  // the login was refused
	ReasonStranger fleet.Code = "provider.machines-stranger"  // another host key
	ReasonNoSSH    fleet.Code = "provider.machines-no-ssh"    // something answers, but no login came to an end
	ReasonGarbled  fleet.Code = "provider.machines-garbled"   // logged in, and its power cycle is not told
	ReasonGoneOnce fleet.Code = "provider.machines-gone-once" // nothing at the port, not for long enough
	ReasonAlone    fleet.Code = "provider.machines-alone"     // nothing at the port, and nothing else answers
	ReasonNoCheck  fleet.Code = "provider.machines-no-check"  // nothing at the port, and nothing else could answer
)

const (
	// connectTime is for a TCP connection: its first packet is sent three times.
	connectTime = 4 * time.Second
	// askTime is for the command over a connection that is kept.
	askTime = 5 * time.Second
	// loginTime is for a login and the command after it.
	loginTime = 10 * time.Second
	// keepAlive is how often a connection is asked for a sign of life: between two
	// reads, no more.
	keepAlive = time.Minute
	// answerBytes is more than any answer has.
	answerBytes = 64 << 10
)

// far is a machine that is elsewhere, and what is remembered of it.
type far struct {
	declared providers.Machine
	address  string
	turn     chan struct{} // whoever has it reads or writes, and may touch what is below

	last cycle // the newest power cycle seen
	// gone is since when nothing was found at the port by every read, while the
	// route worked; zero: something may be there.
	gone time.Time

	conn    atomic.Pointer[sshx.Conn] // kept; those who look for a witness ask by it too
	answers atomic.Bool               // something was at the port when it was last asked
}

func newFar(d providers.Machine) *far {
	return &far{declared: d, address: net.JoinHostPort(d.Host, strconv.Itoa(cmp.Or(d.Port, 22))), turn: make(chan struct{}, 1)}
}

// finding is what a machine was found to be doing.
type finding struct {
	state     fleet.State
	word      string // for it, in the words of SSH
	why       fleet.Reason
	cycle     cycle
	stoppedAt time.Time
	err       error // why it is not found running, for those who want to do something
}

// take waits for the turn at a machine; false where the context ended first.
func (f *far) take(ctx context.Context) bool {
	select {
	case f.turn <- struct{}{}:
		return true
	default:
	}
	select {
	case f.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *Machines) giveBack(f *far) {
	if m.closed.Load() {
		f.hangUp()
	}
	<-f.turn
	if m.closed.Load() && f.conn.Load() != nil && f.take(context.Background()) {
		f.hangUp() // it was closed between the two
		<-f.turn
	}
}

func (f *far) hangUp() {
	if c := f.conn.Swap(nil); c != nil {
		c.Close()
	}
}

// look finds out what a machine is doing.
func (m *Machines) look(ctx context.Context, f *far) finding {
	// A context that has ended would cut the connection that is kept.
	if ctx.Err() != nil || !f.take(ctx) {
		return f.unknown(finding{word: "not asked", why: fleet.Because(ReasonLate, nil), err: ctx.Err()})
	}
	defer m.giveBack(f)
	return m.ask(ctx, f)
}

// ask is look with the turn taken. It leaves a connection where the machine runs.
func (m *Machines) ask(ctx context.Context, f *far) finding {
	if c := f.conn.Load(); c != nil && c.Alive() {
		within, cancel := context.WithTimeout(ctx, askTime)
		cycle, err := askCycle(within, c)
		cancel()
		if err == nil {
			return f.running(cycle)
		}
	}
	f.hangUp() // that says nothing of the machine yet
	raw, err := m.connect(ctx, f.address)
	if err != nil && ctx.Err() == nil {
		var found finding
		if raw, found = m.nothing(ctx, f, err); raw == nil && ctx.Err() == nil {
			return f.unknown(found)
		}
	}
	if ctx.Err() != nil {
		if raw != nil {
			_ = raw.Close()
		}
		return f.unknown(finding{word: "not asked", why: fleet.Because(ReasonLate, nil), err: ctx.Err()})
	}
	f.gone = time.Time{}
	f.answers.Store(true)
	c, err := m.login(ctx, f, raw)
	if err != nil {
		return f.unknown(f.noLogin(ctx, err))
	}
	f.conn.Store(c)
	within, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	cycle, err := askCycle(within, c)
	if err != nil {
		return f.unknown(finding{word: "answers", why: fleet.Because(ReasonGarbled, fleet.Values{"error": cause(err)}), err: err})
	}
	return f.running(cycle)
}

func (f *far) running(c cycle) finding {
	f.last, f.gone = c, time.Time{}
	f.answers.Store(true)
	return finding{state: fleet.StateRunning, word: "answers", cycle: c}
}

// unknown is a finding in the power cycle that was last seen: no other is.
func (f *far) unknown(found finding) finding {
	found.cycle = f.last
	return found
}

func (m *Machines) connect(ctx context.Context, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	return m.dial(ctx, "tcp", address)
}

// login logs in over a TCP connection, which it takes over. The host key is pinned
// by the machine alone, not by its boot: it is what tells a stranger.
func (m *Machines) login(ctx context.Context, f *far, raw net.Conn) (*sshx.Conn, error) {
	select {
	case m.logins <- struct{}{}:
		defer func() { <-m.logins }()
	case <-ctx.Done():
		_ = raw.Close()
		return nil, ctx.Err()
	}
	d := &sshx.Dialer{
		Pins: m.pins, Timeout: loginTime, KeepAlive: keepAlive,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return raw, nil },
	}
	return d.Dial(ctx, sshx.Target{Ref: ref(f.declared), Access: access(f.declared)})
}

// noLogin tells why a login came to nothing although something answers.
func (f *far) noLogin(ctx context.Context, err error) finding {
	address := fleet.Text(f.address)
	change, changed := errors.AsType[*sshx.PinChange](err)
	switch {
	case changed:
		return finding{word: "another host key", err: err, why: fleet.Because(ReasonStranger, fleet.Values{
			"address": address, "was": fleet.Text(change.Was), "is": fleet.Text(change.Is)})}
	case errors.Is(err, sshx.ErrAuth):
		return finding{word: "login refused", err: err, why: fleet.Because(ReasonNoLogin, fleet.Values{
			"address": address, "user": fleet.Text(f.declared.User)})}
	case ctx.Err() != nil:
		return finding{word: "not asked", err: err, why: fleet.Because(ReasonLate, nil)}
	}
	return finding{word: "no SSH", err: err, why: fleet.Because(ReasonNoSSH, fleet.Values{"address": address, "error": cause(err)})}
}

// askCycle asks over a connection for the power cycle: for what readCycle reads.
// Whatever a login says of its own accord comes before the first mark.
func askCycle(ctx context.Context, c *sshx.Conn) (cycle, error) {
	mark := "curfew-" + rand.Text()
	const script = "echo %[1]s; cat /proc/1/stat; echo %[1]s; cat /proc/sys/kernel/random/boot_id\n" +
		"echo %[1]s; grep '^btime ' /proc/stat; echo %[1]s\nexit 0\n"
	out, err := c.Feed(ctx, look.Command, fmt.Appendf(nil, script, mark), answerBytes)
	if err != nil {
		return cycle{}, err
	}
	parts := strings.Split(string(out), mark+"\n")
	if len(parts) != 5 {
		return cycle{}, errors.New("the answer is no answer")
	}
	return cycleOf(parts[1], parts[2], parts[3])
}

// cause gives the innermost words of an error, without the address.
func cause(err error) fleet.Value {
	if e, ok := errors.AsType[*sshx.Error](err); ok {
		if err = e.Kind; e.Err != nil {
			err = e.Err
		}
	}
	return fleet.Text(look.Short(err.Error()))
}
