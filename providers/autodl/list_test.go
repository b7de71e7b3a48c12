package autodl

import (
	"fmt"
	"testing"

	"curfew/fleet"
	"curfew/providers/autodl/autodltest"
)

func TestListIsWholeOrAnError(t *testing.T) {
	one := func(ids ...string) []map[string]any {
		out := []map[string]any{}
		for _, id := range ids {
			out = append(out, map[string]any{"uuid": id, "status": "running"})
		}
		return out
	}
	for _, tc := range []struct {
		name  string
		pages []any
		want  int
		kind  fleet.ErrorKind
	}{
		{"an empty account, with null for a list", []any{map[string]any{"list": nil, "max_page": 0, "result_total": 0}}, 0, ""},
		{"an empty account that counts one page", []any{map[string]any{"list": one(), "max_page": 1, "result_total": 0}}, 0, ""},
		{"no data at all is not an empty account", []any{nil}, 0, fleet.Transient},
		{"no totals: it cannot be known to be whole", []any{map[string]any{"list": one("a")}}, 0, fleet.Transient},
		{"fewer than the total", []any{map[string]any{"list": one("a"), "max_page": 1, "result_total": 2}}, 0, fleet.Transient},
		{"an empty list under a total", []any{map[string]any{"list": one(), "max_page": 1, "result_total": 2}}, 0, fleet.Transient},
		{"an instance without a uuid", []any{map[string]any{"list": one("a", ""), "max_page": 1, "result_total": 2}}, 0, fleet.Transient},
		{"a page count that is not believed", []any{map[string]any{"list": one("a"), "max_page": 1 << 40, "result_total": 1}}, 0, fleet.Transient},
		{"pages that only count pages", []any{
			map[string]any{"list": one("a", "b"), "page_size": 2, "max_page": 2}, map[string]any{"list": one("c"), "page_size": 2, "max_page": 2},
		}, 3, ""},
		{"a short page before the last, where nothing else counts", []any{map[string]any{"list": one("a"), "page_size": 2, "max_page": 2}}, 0, fleet.Transient},
		{"pages that only count instances", []any{
			map[string]any{"list": one("a", "b"), "page_size": 2, "result_total": 3}, map[string]any{"list": one("c"), "page_size": 2, "result_total": 3},
		}, 3, ""},
		{"the total changes between pages", []any{
			map[string]any{"list": one("a", "b"), "max_page": 2, "result_total": 3}, map[string]any{"list": one("c"), "max_page": 2, "result_total": 4},
		}, 0, fleet.Transient},
		{"the page count changes between pages", []any{
			map[string]any{"list": one("a", "b"), "max_page": 2, "result_total": 3}, map[string]any{"list": one("c"), "max_page": 1, "result_total": 3},
		}, 0, fleet.Transient},
		{"one that slid over the border while another went unseen", []any{
			map[string]any{"list": one("a", "b"), "max_page": 2, "result_total": 4}, map[string]any{"list": one("b", "c"), "max_page": 2, "result_total": 4},
		}, 0, fleet.Transient},
		{"one shown twice counts once", []any{
			map[string]any{"list": one("a", "b"), "max_page": 2, "result_total": 3}, map[string]any{"list": one("b", "c"), "max_page": 2, "result_total": 3},
		}, 3, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var xs []exchange
			for n, p := range tc.pages {
				xs = append(xs, exchange{
					want: fmt.Sprintf(`POST /api/v1/dev/instance/pro/list {"page_index":%d,"page_size":100}`, n+1),
					body: envelopeOf(t, "Success", "", p),
				})
			}
			a := openAt(t, recorded(t, xs...), nil)
			is, err := a.Instances(t.Context(), a.Scopes()[0])
			if fleet.KindOf(err) != tc.kind || len(is) != tc.want {
				t.Errorf("got %d instances and %v, want %d and kind %q", len(is), err, tc.want, tc.kind)
			}
		})
	}
}

func TestListThatChangesWhileItIsRead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(c *autodltest.Cloud, ids []string)
	}{
		{"one is released", func(c *autodltest.Cloud, ids []string) { c.Remove(ids[0]) }},
		{"one is created", func(c *autodltest.Cloud, _ []string) { c.Add(autodltest.Machine{}) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ids []string
			var b bundle
			lists := 0
			b = setup(t, autodltest.Options{PageMax: 2, OnRequest: func(autodltest.Request) {
				if lists++; lists == 2 {
					tc.change(b.cloud, ids)
				}
			}}, nil)
			for range 5 {
				ids = append(ids, b.cloud.Add(autodltest.Machine{}))
			}
			if is, err := b.Instances(t.Context(), b.Scopes()[0]); fleet.KindOf(err) != fleet.Transient || is != nil {
				t.Errorf("got %d instances and %v, want none and a Transient error", len(is), err)
			}
			if is, err := b.Instances(t.Context(), b.Scopes()[0]); err != nil || len(is) < 4 {
				t.Errorf("the next list: %d instances and %v, want it whole", len(is), err)
			}
		})
	}
}

func TestListRefusesAScopeItDoesNotHave(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	_, err := b.Instances(t.Context(), fleet.Scope{Account: "lab", Region: "bj-B2"})
	if fleet.KindOf(err) != fleet.Invalid || len(b.sent(0)) != 0 {
		t.Errorf("got %v after %q, want Invalid after nothing", err, b.sent(0))
	}
}

func TestAbsentFromTheListIsNotGone(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault autodltest.Fault
		word  string
		kind  fleet.ErrorKind
		state fleet.State
	}{
		{"an empty list while the status is running", autodltest.Fault{Kind: autodltest.EmptyList}, "running", fleet.Transient, ""},
		{"an empty list while the status is a word nobody knows", autodltest.Fault{Kind: autodltest.EmptyList}, "migrating", fleet.Transient, ""},
		{"an empty list and the status says released", autodltest.Fault{Kind: autodltest.EmptyList}, "released", "", fleet.StateReleased},
		{"a list that was itself not found", autodltest.Fault{Kind: autodltest.Refuse, Code: "RecordNotFoundError", Paths: []string{"pro/list"}}, "running", fleet.Other, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := setup(t, autodltest.Options{}, nil)
			id := b.cloud.Add(autodltest.Machine{})
			b.cloud.SetStatus(id, tc.word)
			b.cloud.Fail(tc.fault)
			i, err := b.Instance(t.Context(), b.ref(id))
			if fleet.KindOf(err) != tc.kind || i.State != tc.state {
				t.Errorf("got %s and %v, want %s and kind %q", i.State, err, tc.state, tc.kind)
			}
		})
	}
	t.Run("an id nobody has is not found, by its own answer", func(t *testing.T) {
		b := setup(t, autodltest.Options{PageMax: 1}, nil)
		b.cloud.Add(autodltest.Machine{})
		b.cloud.Add(autodltest.Machine{})
		if _, err := b.Instance(t.Context(), b.ref("pro-none")); fleet.KindOf(err) != fleet.NotFound {
			t.Errorf("got %v, want NotFound", err)
		}
	})
}
