package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func TestPeople(t *testing.T) {
	c := parsed(t, `accounts: [{name: a, provider: sim}]
people:
  - {owner: wang, names: ["wang-*", "w/*"], pager: U012AB3CD, wecom: wangwei}
  - {owner: li, labels: {team: vision}}
  - {owner: boss, unowned: true}
`)
	want := []Person{
		{Owner: "wang", Names: []string{"wang-*", "w/*"}, IDs: map[string]string{"pager": "U012AB3CD", "wecom": "wangwei"}},
		{Owner: "li", Labels: map[string]string{"team": "vision"}},
		{Owner: "boss", Unowned: true},
	}
	if diff := cmp.Diff(want, c.People); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"wang": "U012AB3CD"}, c.Known("pager")); diff != "" {
		t.Errorf("on pagers (-want +got):\n%s", diff)
	}
	for _, o := range []struct {
		name  string
		of    fleet.Instance
		owner string
	}{
		{"by its name", fleet.Instance{Name: "wang-7"}, "wang"},
		{"a slash is a letter like any other", fleet.Instance{Name: "wang-a/b"}, "wang"},
		{"by a label of theirs", fleet.Instance{Name: "exp", Labels: map[string]string{"team": "vision"}}, "li"},
		{"a label goes before a name", fleet.Instance{Name: "wang-7", Labels: map[string]string{"team": "vision"}}, "li"},
		{"another value is another label", fleet.Instance{Name: "exp", Labels: map[string]string{"team": "audio"}}, ""},
		{"the owner label of somebody who is not listed", fleet.Instance{Labels: map[string]string{"owner": "zhao"}}, "zhao"},
		{"what the platform says", fleet.Instance{Owner: "sub-account-3"}, "sub-account-3"},
		{"the owner label goes before what the platform says", fleet.Instance{Owner: "x", Labels: map[string]string{"owner": "zhao"}}, "zhao"},
		{"nobody's", fleet.Instance{Name: "exp"}, ""},
	} {
		if got := c.Owner(o.of); got != o.owner {
			t.Errorf("%s: it is %q's, want %q's", o.name, got, o.owner)
		}
	}
}

func TestWhoIsToldOfWhatIsNobodysIsKnownByNoOwnerToo(t *testing.T) {
	c := parsed(t, `accounts: [{name: a, provider: sim}]
people: [{owner: boss, unowned: true, wecom: laoban}, {owner: li, wecom: lisi}]
`)
	if diff := cmp.Diff(map[string]string{"": "laoban", "boss": "laoban", "li": "lisi"}, c.Known("wecom")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
