package notify_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
)

func TestAMessageMentionsThoseItIsFor(t *testing.T) {
	people := map[string]string{"wang": "U1", "li": "U2", "boss": "U9", "": "U9"}
	about := func(owner string, change ...func(*notify.Notice)) notify.Notice {
		n := notify.Notice{Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryHealth, Subject: box()}
		n.Subject.Owner = owner
		for _, c := range change {
			c(&n)
		}
		return n
	}
	as := func(e notify.Event) func(*notify.Notice) { return func(n *notify.Notice) { n.Event = e } }
	of := func(k fleet.ThingKind, id string) func(*notify.Notice) {
		return func(n *notify.Notice) { n.Subject = fleet.Instance{Ref: fleet.Ref{Account: "lab", Kind: k, ID: id}} }
	}
	thread := func(s string) func(*notify.Notice) { return func(n *notify.Notice) { n.Thread = s } }
	many := make([]notify.Notice, 14)
	crowd := map[string]string{}
	for n := range many {
		owner := fmt.Sprintf("p%02d", n)
		many[n], crowd[owner] = about(owner), "U"+owner
	}
	for _, c := range []struct {
		name    string
		people  map[string]string
		notices []notify.Notice
		want    []string
	}{
		{"its owner", people, []notify.Notice{about("wang")}, []string{"U1"}},
		{"an owner whom the channel does not know is only named", people, []notify.Notice{about("zhao")}, nil},
		{"of what is nobody's, who is told of that", people, []notify.Notice{about("")}, []string{"U9"}},
		{"nobody where nobody is known", nil, []notify.Notice{about("wang"), about("")}, nil},
		{"nobody of what is nobody's where nobody is told of that", map[string]string{"wang": "U1"}, []notify.Notice{about("")}, nil},
		{"an announcement of several acts mentions each owner", people, []notify.Notice{about("wang", as(notify.EventPending), func(n *notify.Notice) {
			n.With = []notify.Other{{Name: "b", Owner: "li"}, {Name: "c", Owner: "wang"}, {Name: "d"}}
		})}, []string{"U1", "U2", "U9"}},
		{"the subject of an act", people, []notify.Notice{about("", func(n *notify.Notice) {
			n.Event, n.Subject, n.Intent = notify.EventPending, fleet.Instance{}, intent(fleet.Stop)
		})}, []string{"U1"}},
		{"each of several once", people, []notify.Notice{about("li"), about("wang"), about("li")}, []string{"U2", "U1"}},
		{"two who are one", people, []notify.Notice{about("boss"), about("")}, []string{"U9"}},
		{"a disk's owner", people, []notify.Notice{about("", of(fleet.KindDisk, "d-1"), func(n *notify.Notice) { n.Subject.Owner = "li" })}, []string{"U2"}},
		{"whose budget it is", people, []notify.Notice{about("", of(fleet.KindOwner, "li"))}, []string{"U2"}},
		{"of an account nobody", people, []notify.Notice{about("", of(fleet.KindAccount, "lab"))}, nil},
		{"of everything nobody", people, []notify.Notice{about("", of(fleet.KindBudget, "b"))}, nil},
		{"a digest nobody", people, []notify.Notice{{Event: notify.EventDigest}}, nil},
		{"a sheet whose it is", people, []notify.Notice{about("", of(fleet.KindOwner, "wang"), as(notify.EventDigest))}, []string{"U1"}},
		{"a test nobody", people, []notify.Notice{about("wang", as(notify.EventTest))}, nil},
		{"a reload nobody", people, []notify.Notice{about("wang", as(notify.EventReload))}, nil},
		{"what is over nobody", people, []notify.Notice{about("wang", as(notify.EventResolved), thread("t"))}, nil},
		{"what began and is over by now nobody", people, []notify.Notice{about("wang", thread("t")), about("wang", as(notify.EventResolved), thread("t")), about("li", thread("u"))}, []string{"U2"}},
		{"a reminder again", people, []notify.Notice{about("wang", as(notify.EventReminder))}, []string{"U1"}},
		{"ten at most", crowd, many, []string{"Up00", "Up01", "Up02", "Up03", "Up04", "Up05", "Up06", "Up07", "Up08", "Up09"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ch, outbox := &channelFunc{}, notifytest.NewOutbox(t)
				options := senderOptions(t, outbox, 0, map[string]notify.Channel{"wx": ch})
				open := options.Channels["wx"]
				open.People = c.people
				options.Channels["wx"] = open
				for _, n := range c.notices {
					n.At, n.Group = time.Now(), "g"
					outbox.Add(notify.Delivery{Channel: "wx", Notice: n})
				}
				if _, err := notify.NewSender(options).Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(ch.sent) != 1 {
					t.Fatalf("%d messages, want one", len(ch.sent))
				}
				if diff := cmp.Diff(c.want, ch.sent[0].Mentions); diff != "" {
					t.Errorf("mentions (-want +got):\n%s", diff)
				}
			})
		})
	}
}
