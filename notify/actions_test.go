package notify_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
)

func TestAMessageOfOneActCanBeAnsweredAndOneOfSeveralCannot(t *testing.T) {
	one := notify.Notice{Event: notify.EventPending, Severity: fleet.Warning, Category: fleet.CategoryAct, Group: "g", Intent: &fleet.Intent{ID: 7, Action: fleet.Stop}}
	batch := one
	batch.With = []notify.Other{{Intent: 8, Name: "b"}}
	for name, c := range map[string]struct {
		notices []notify.Notice
		want    []notify.Action
	}{
		"one":                         {[]notify.Notice{one}, []notify.Action{{Label: "Wait", Value: "v"}}},
		"two in one message":          {[]notify.Notice{one, one}, nil},
		"one that announces two acts": {[]notify.Notice{batch}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, ch := notifytest.NewOutbox(t), &channelFunc{}
				for _, n := range c.notices {
					o.Add(notify.Delivery{Channel: "a", Notice: n})
				}
				options := senderOptions(t, o, 0, map[string]notify.Channel{"a": ch})
				open := options.Channels["a"]
				open.Actions = func(n notify.Notice) []notify.Action {
					if n.Intent.ID != 7 {
						t.Errorf("asked of %+v", n)
					}
					return []notify.Action{{Label: "Wait", Value: "v"}}
				}
				options.Channels["a"] = open
				if _, err := notify.NewSender(options).Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(ch.sent) != 1 {
					t.Fatalf("%d messages", len(ch.sent))
				}
				if diff := cmp.Diff(c.want, ch.sent[0].Actions); diff != "" {
					t.Errorf("actions (-want +got):\n%s", diff)
				}
			})
		})
	}
}
