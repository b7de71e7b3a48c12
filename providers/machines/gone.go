package machines

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"curfew/fleet"
)

// confirm is for how long nothing must be at a machine's port before it counts as
// off: a service that is started anew, or a wink of the network, is shorter.
const confirm = time.Minute

// nothing judges a TCP connection that could not be made. That alone says nothing
// of the machine: it may be our own network. So another host of its route is asked,
// and the machine once more after it has answered. Where it is there after all,
// the connection is given back.
//
//	nothing ─► a witness answers ─► nothing ─► counts; stopped, if it has counted
//	                                           at every read for a minute
func (m *Machines) nothing(ctx context.Context, f *far, err error) (net.Conn, finding) {
	f.answers.Store(false)
	words, may := atPort(err)
	values := fleet.Values{"address": fleet.Text(f.address), "error": fleet.Text(words)}
	unclear := func(word string, code fleet.Code) (net.Conn, finding) {
		f.gone = time.Time{}
		return nil, finding{word: word, why: fleet.Because(code, values), err: err}
	}
	if !may {
		return unclear("no way", ReasonNoWay)
	}
	who, answered := m.another(ctx, f)
	switch {
	case ctx.Err() != nil:
		return nil, finding{} // the caller sees it
	case answered == nobodyThere:
		return unclear("port gone", ReasonNoCheck)
	case answered == silent:
		return unclear("port gone", ReasonAlone)
	}
	began := m.now()
	raw, err := m.connect(ctx, f.address)
	if err == nil || ctx.Err() != nil {
		return raw, finding{}
	}
	if words, may = atPort(err); !may {
		values["error"] = fleet.Text(words)
		return unclear("no way", ReasonNoWay)
	}
	if f.gone.IsZero() {
		f.gone = m.now()
	}
	if began.Sub(f.gone) < confirm {
		values["witness"], values["confirm"] = fleet.Text(who), fleet.Span(confirm)
		return nil, finding{word: "port gone", why: fleet.Because(ReasonGoneOnce, values), err: err}
	}
	found := finding{state: fleet.StateStopped, word: "port gone", err: err}
	if f.last.boot != "" { // else it was gone before anybody looked
		found.stoppedAt = f.gone
	}
	return nil, found
}

// atPort puts into words why no connection could be made, and tells whether it may
// be for want of the machine. A name that cannot be resolved and a network that is
// not there are our own affair.
func atPort(err error) (words string, may bool) {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name cannot be resolved: " + dns.Err, false
	}
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.EHOSTDOWN):
		return "no route to host", true
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		return "timed out", true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without our own address
	}
	return err.Error(), false
}

// answered says whether another host answered.
type answered int

const (
	silent answered = iota
	nobodyThere
	answers
)

const (
	// witnessTime is for the answer of a witness.
	witnessTime = 3 * time.Second
	// witnessAtOnce is how many are asked at a time, at most.
	witnessAtOnce = 3
	// For so long an answer, or that there was none, is good for other machines too.
	answerFor  = 2 * time.Second
	silenceFor = 10 * time.Second
)

// witness is what was last heard of another host.
type witness struct {
	asking chan struct{} // held by whoever asks; guards what follows
	at     time.Time
	who    string // its address; empty: nobody answered
}

// another asks whether another host of the machine's route answers now: the other
// machines of the entry, over the connections there are; the address declared for
// it; and last some other machines by a connection of their own.
func (m *Machines) another(ctx context.Context, f *far) (who string, a answered) {
	w := &m.witness
	select {
	case w.asking <- struct{}{}:
		defer func() { <-w.asking }()
	case <-ctx.Done():
		return "", silent
	}
	if ctx.Err() != nil {
		return "", silent
	}
	age := m.now().Sub(w.at)
	switch {
	case w.who != "" && w.who != f.address && age >= 0 && age <= answerFor:
		return w.who, answers
	case w.who == "" && !w.at.IsZero() && age >= 0 && age <= silenceFor && (m.check != "" || len(m.others(f)) > 0):
		return "", silent
	}
	others := m.others(f)
	if m.check == "" && len(others) == 0 {
		return "", nobodyThere
	}
	w.who = first(ctx, m.connected(others), func(ctx context.Context, o *far) bool {
		c := o.conn.Load()
		return c != nil && c.Answers(ctx)
	})
	if w.who == "" && m.check != "" && m.check != f.address && m.reachable(ctx, m.check) {
		w.who = m.check
	}
	if w.who == "" {
		w.who = first(ctx, others, func(ctx context.Context, o *far) bool { return m.reachable(ctx, o.address) })
	}
	w.at = m.now()
	if ctx.Err() != nil {
		w.at = time.Time{} // they had no time to answer
	}
	if w.who == "" {
		return "", silent
	}
	return w.who, answers
}

// others are the other machines elsewhere that are not at the same port, those
// first that answered when they were last asked.
func (m *Machines) others(f *far) []*far {
	var up, down []*far
	for _, d := range m.declared {
		switch o := m.far[d.Name]; {
		case o == nil || o.address == f.address:
		case o.answers.Load():
			up = append(up, o)
		default:
			down = append(down, o)
		}
	}
	return append(up, down...)
}

// connected are those to which a connection is kept.
func (m *Machines) connected(fs []*far) []*far {
	return slices.DeleteFunc(slices.Clone(fs), func(f *far) bool {
		c := f.conn.Load()
		return c == nil || !c.Alive()
	})
}

func (m *Machines) reachable(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, witnessTime)
	defer cancel()
	raw, err := m.dial(ctx, "tcp", address)
	if err == nil {
		_ = raw.Close()
	}
	return err == nil
}

// first asks some machines side by side and gives the address of the first that
// answered; empty where none did. It waits for all of them: to give one up would
// cut its connection.
func first(ctx context.Context, fs []*far, ask func(context.Context, *far) bool) string {
	ctx, cancel := context.WithTimeout(ctx, witnessTime)
	defer cancel()
	fs = fs[:min(len(fs), witnessAtOnce)]
	heard := make([]bool, len(fs))
	var wg sync.WaitGroup
	for n, f := range fs {
		wg.Go(func() { heard[n] = ask(ctx, f) })
	}
	wg.Wait()
	if n := slices.Index(heard, true); n >= 0 {
		return fs[n].address
	}
	return ""
}
