package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
)

// chat is a channel that keeps what it took and answers by a function.
type chat struct {
	mu     sync.Mutex
	took   []heardAt
	asked  int // messages that were sent to it, taken or not
	answer func(m notify.Message) notify.Verdict
}

// heardAt is a message and when it was taken.
type heardAt struct {
	notify.Message
	at time.Time
}

// Send keeps a message that is taken.
func (c *chat) Send(_ context.Context, m notify.Message) notify.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	v := notify.Verdict{Kind: notify.VerdictOK, Ref: "ref-" + m.DeliveryID}
	if c.answer != nil {
		v = c.answer(m)
	}
	if v.Kind == notify.VerdictOK {
		c.took = append(c.took, heardAt{m, time.Now()})
	}
	return v
}

// fails answers everything in one way.
func fails(kind notify.VerdictKind) func(notify.Message) notify.Verdict {
	return func(notify.Message) notify.Verdict { return notify.Verdict{Kind: kind, Code: "no"} }
}

// titles gives the titles of what was taken, and what each tells of what.
func (c *chat) titles() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.took {
		var of []string
		for _, n := range m.Notices {
			of = append(of, n.Subject.Ref.ID+" "+string(n.Reason.Code))
		}
		out = append(out, m.Title+" {"+strings.Join(of, ", ")+"}")
	}
	return out
}

// post is a daemon of which only findings, outbox and channels are at work, minute by
// minute.
type post struct {
	*lab
	chats map[string]*chat
	found []fleet.Finding
}

const postFile = `
mode: enforce
timezone: Asia/Shanghai
state: sqlite:%s
accounts:
  - {name: lab, provider: sim, world: world.yaml, poll: 1m}
signals: [{type: sim, every: 30s, timeout: 10s}]
notify:
%s
policies:
  - {name: done, type: training, match: all, process: 'python .*train', grace: 5m, then: stop}
`

// newPost starts at eight in the morning. Its channels are of the kind chat, and each
// name is a chat of its own.
func newPost(t *testing.T, notifies string) *post {
	t.Helper()
	p := &post{lab: newLab(t, "stop"), chats: map[string]*chat{}}
	p.kinds = []notify.Kind{{Name: "chat", Open: func(o notify.Options) (notify.Channel, error) { return p.chat(o.Name), nil }}}
	p.configure(notifies)
	p.begin()
	t.Cleanup(func() {
		if err := p.app.Close(); err != nil {
			t.Error(err)
		}
		p.app = nil
	})
	return p
}

func (p *post) configure(notifies string) {
	p.yaml = fmt.Sprintf(postFile, filepath.Join(p.dir, "curfew.db"), notifies)
}

// chat gives the chat of a name.
func (p *post) chat(name string) *chat {
	if p.chats[name] == nil {
		p.chats[name] = &chat{}
	}
	return p.chats[name]
}

func (p *post) begin() {
	p.t.Helper()
	a, err := New(p.t.Context(), p.options())
	if err != nil {
		p.t.Fatal(err)
	}
	p.app = a
	p.known()
}

// known says of the account who it is, as its first poll does.
func (p *post) known() { p.app.runtime().accounts[0].become("lab") }

// again is another daemon over the same state.
func (p *post) again() {
	p.t.Helper()
	if err := p.app.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.begin()
}

// reload gives the daemon another configuration.
func (p *post) reload(notifies string) {
	p.t.Helper()
	p.configure(notifies)
	if err := p.app.Reload(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.known()
}

// turn is one round of everything.
func (p *post) turn() {
	p.t.Helper()
	ctx := p.t.Context()
	for range 2 { // what a round queued is sent by the next
		if err := errors.Join(p.app.tellFindings(ctx, p.app.runtime(), p.found), p.flushed(ctx), p.app.otherWays(ctx)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *post) flushed(ctx context.Context) error {
	_, err := p.app.runtime().sender.Flush(ctx)
	return err
}

// pass lets time pass, with a round a minute.
func (p *post) pass(d time.Duration) {
	p.t.Helper()
	p.turn()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(time.Minute, time.Until(end)))
		p.turn()
	}
}

// tell queues a notice as the daemon does.
func (p *post) tell(n notify.Notice) {
	p.t.Helper()
	if err := p.app.store.Update(p.t.Context(), func(tx *store.Tx) error { return p.app.tell(tx, n, 0) }); err != nil {
		p.t.Fatal(err)
	}
}

// want asks what a chat took, each by a part of its title.
func (p *post) want(name string, titles ...string) {
	p.t.Helper()
	got := p.chat(name).titles()
	for n, title := range got {
		if n >= len(titles) || !strings.Contains(title, titles[n]) {
			p.t.Errorf("%s took, as message %d, %q", name, n+1, title)
		}
	}
	if len(got) < len(titles) {
		p.t.Errorf("%s took %d messages, want %d: %q", name, len(got), len(titles), titles)
	}
}

// findingOn is a finding that lasts.
func findingOn(id string, s fleet.Severity, c fleet.Category) fleet.Finding {
	return fleet.Finding{
		Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: id}, Severity: s, Category: c, Condition: "odd", Standing: true,
		Reason: fleet.Because("odd", nil), Over: fleet.Because("well", nil),
	}
}
