package policies_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
)

// days draws a whole number of days before base, so that many are alike.
func days(t *rapid.T, label string, least, most int) time.Time {
	return base.Add(-time.Duration(rapid.IntRange(least, most).Draw(t, label)) * 24 * time.Hour)
}

func drawResource(t *rapid.T, n int) *fleet.Resource {
	kinds := []fleet.ThingKind{fleet.KindSnapshot, fleet.KindImage, fleet.KindDisk, fleet.KindPublicIP}
	r := &fleet.Resource{
		Ref:         fleet.Ref{Account: mostly(t, "account", "lab", "other"), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), ID: fmt.Sprintf("r%02d", n)},
		Name:        mostly(t, "name", "", "unmatched"),
		Region:      rapid.SampledFrom([]string{"", "east", "west"}).Draw(t, "region"),
		CreatedAt:   days(t, "made", -1, 6),
		UnusedSince: days(t, "unused", -1, 6),
		Ready:       mostly(t, "ready", true, false),
		Protected:   mostly(t, "protected", false, true),
		Shared:      mostly(t, "shared", fleet.No, fleet.Yes, fleet.Unsure),
	}
	if !mostly(t, "age known", true, false) {
		r.CreatedAt = time.Time{}
	}
	if !mostly(t, "use known", true, false) {
		r.UnusedSince = time.Time{}
	}
	if !mostly(t, "read", true, false) {
		r.Unread = []string{rapid.SampledFrom([]string{"labels", "used_by"}).Draw(t, "what")}
	}
	if source := rapid.IntRange(0, 2).Draw(t, "source"); source > 0 {
		r.Source = fleet.Ref{Account: r.Ref.Account, Kind: fleet.KindDisk, ID: fmt.Sprintf("d%d", source)}
	}
	if mostly(t, "used", false, true) {
		r.UsedBy = []fleet.Ref{{Account: r.Ref.Account, Kind: fleet.KindImage, ID: "i"}}
	}
	if mostly(t, "attached", false, true) {
		r.AttachedTo = refOf("a")
	}
	return r
}

// leftovers is a view of resources made by chance, with policies of both types.
type leftovers struct {
	view      policies.View
	snapshots policies.Snapshots
	orphans   policies.Orphans
}

// matched is what the policies are about.
func matched(i fleet.Instance) (bool, error) {
	if slices.Contains(i.Unread, "labels") {
		return false, errors.New("labels were not read")
	}
	return i.Name != "unmatched", nil
}

func drawLeftovers(t *rapid.T) leftovers {
	common := policies.Common{Name: "p", Match: matched}
	if rapid.Bool().Draw(t, "match all") {
		common.Match = func(fleet.Instance) (bool, error) { return true, nil }
	}
	out := leftovers{
		view: policies.View{Now: base, Due: base},
		snapshots: policies.Snapshots{
			Common: common, Kinds: []fleet.ThingKind{fleet.KindSnapshot, fleet.KindImage},
			OlderThan: time.Duration(rapid.IntRange(0, 3).Draw(t, "older than")) * 24 * time.Hour,
			KeepLast:  rapid.IntRange(0, 3).Draw(t, "keep last"),
		},
		orphans: policies.Orphans{
			Common: common, Kinds: []fleet.ThingKind{fleet.KindDisk, fleet.KindPublicIP, fleet.KindImage, fleet.KindSnapshot},
			UnusedFor: time.Duration(rapid.IntRange(0, 3).Draw(t, "unused for")) * 24 * time.Hour,
			Then:      mostly(t, "then", fleet.Delete, fleet.Keep),
		},
	}
	if !mostly(t, "open", true, false) {
		out.view.Due = time.Time{}
	}
	for n := range rapid.IntRange(1, 14).Draw(t, "resources") {
		out.view.Things.Resources = append(out.view.Things.Resources, drawResource(t, n))
	}
	for _, kind := range []fleet.ThingKind{fleet.KindSnapshot, fleet.KindDisk} {
		l := policies.ListState{Scope: fleet.Scope{Account: "lab", Region: "east"}, Kind: kind, At: base}
		if !mostly(t, "list read", true, false) {
			l.Failing, l.Since = fleet.Because("test.failing", nil), base
		}
		out.view.Things.Lists = append(out.view.Things.Lists, l)
	}
	return out
}

// mustStay says why a thing must stay whatever the policy; empty where nothing is known.
func (l leftovers) mustStay(r *fleet.Resource) string {
	failing := slices.ContainsFunc(l.view.Things.Lists, func(s policies.ListState) bool {
		return !s.Failing.IsZero() && s.Scope.Account == r.Ref.Account && s.Kind == r.Ref.Kind && (r.Region == "" || r.Region == s.Scope.Region)
	})
	switch {
	case l.view.Due.IsZero():
		return "the window is closed"
	case !r.Ready:
		return "it is not ready"
	case len(r.Unread) > 0:
		return "it was not read"
	case failing:
		return "its list cannot be read"
	case len(r.UsedBy) > 0:
		return "it is used"
	case r.Shared == fleet.Yes:
		return "it is shared"
	}
	return ""
}

// wished gives the resources that a result wishes to be deleted.
func wished(t *rapid.T, l leftovers, r policies.Result) map[*fleet.Resource]bool {
	out := map[*fleet.Resource]bool{}
	for _, v := range r.Verdicts {
		n := slices.IndexFunc(l.view.Things.Resources, func(r *fleet.Resource) bool { return r.Ref == v.Ref })
		switch {
		case n < 0 || v.Policy != "p" || v.Reason.IsZero() || v.Gap && v.Goal != fleet.Keep || v.Blind || v.Boot != "":
			t.Fatalf("%+v", v)
		case v.Goal == fleet.Delete:
			if !v.Due.Equal(l.view.Due) {
				t.Fatalf("wished for outside its tick: %+v", v)
			}
			out[l.view.Things.Resources[n]] = true
		case v.Goal != fleet.Keep:
			t.Fatalf("%s of a resource", v.Goal)
		}
	}
	return out
}

func TestSnapshotsLeaveTheLastOfEverySource(t *testing.T) {
	wishes := 0
	rapid.Check(t, func(t *rapid.T) {
		l := drawLeftovers(t)
		p := l.snapshots
		gone := wished(t, l, p.Decide(l.view))
		wishes += len(gone)
		type group struct {
			kind   fleet.ThingKind
			source fleet.Ref
		}
		usable, stay := map[group][]*fleet.Resource{}, map[group]int{}
		for _, r := range l.view.Things.Resources {
			why := l.mustStay(r)
			switch {
			case !gone[r]:
			case why != "":
				t.Fatalf("%s is wished away: %s", r.Ref, why)
			case p.OlderThan <= 0 || r.CreatedAt.IsZero() || base.Sub(r.CreatedAt) < p.OlderThan:
				t.Fatalf("%s of %s is not older than %s", r.Ref, r.CreatedAt, p.OlderThan)
			case r.Ref.Kind != fleet.KindSnapshot && r.Ref.Kind != fleet.KindImage:
				t.Fatalf("%s is neither snapshot nor image", r.Ref)
			case r.Source.IsZero() && p.KeepLast > 0:
				t.Fatalf("%s has no source that is known", r.Ref)
			}
			if ok, err := p.Match(r.Subject()); ok && err == nil && r.Ready && len(r.Unread) == 0 && !r.Protected && !r.Source.IsZero() {
				g := group{r.Ref.Kind, fleet.Ref{Account: r.Ref.Account, ID: r.Source.ID}}
				usable[g] = append(usable[g], r)
				if !gone[r] {
					stay[g]++
				}
			}
		}
		for g, all := range usable {
			if stay[g] < min(p.KeepLast, len(all)) {
				t.Fatalf("of the %d of %v %d stay, want %d", len(all), g, stay[g], p.KeepLast)
			}
			// Those without a known age come last.
			slices.SortFunc(all, func(a, b *fleet.Resource) int { return b.CreatedAt.Compare(a.CreatedAt) })
			for n, r := range all {
				if gone[r] && n < p.KeepLast {
					t.Fatalf("%s goes, and is number %d of its source", r.Ref, n+1)
				}
			}
		}
	})
	if wishes == 0 {
		t.Fatal("no wish was ever made")
	}
}

func TestOrphansDeleteOnlyWhatThePlatformCallsUnused(t *testing.T) {
	wishes, images := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := drawLeftovers(t)
		p := l.orphans
		result := p.Decide(l.view)
		for r := range wished(t, l, result) {
			wishes++
			why := l.mustStay(r)
			switch {
			case r.Ref.Kind != fleet.KindDisk && r.Ref.Kind != fleet.KindPublicIP:
				t.Fatalf("%s is judged by absence", r.Ref)
			case why != "":
				t.Fatalf("%s is wished away: %s", r.Ref, why)
			case !r.AttachedTo.IsZero() || r.UnusedSince.IsZero() || p.UnusedFor <= 0 || base.Sub(r.UnusedSince) < p.UnusedFor:
				t.Fatalf("%s, attached to %v, unused since %s", r.Ref, r.AttachedTo, r.UnusedSince)
			case p.Then != fleet.Delete:
				t.Fatal("it was only to tell")
			}
		}
		for _, f := range result.Findings {
			n := slices.IndexFunc(l.view.Things.Resources, func(r *fleet.Resource) bool { return r.Ref == f.Ref })
			if f.Condition == policies.ConditionOrphan && (l.mustStay(l.view.Things.Resources[n]) != "" || f.Period == "") {
				t.Fatalf("told of what may be in use: %+v", f)
			}
			if f.Condition == policies.ConditionOrphan && f.Ref.Kind == fleet.KindImage {
				images++
			}
		}
	})
	if wishes == 0 || images == 0 {
		t.Fatalf("%d wishes, %d images told: too few to prove anything", wishes, images)
	}
}

// byRef orders verdicts and findings, which come in the order of groups.
func byRef(r policies.Result) policies.Result {
	slices.SortFunc(r.Verdicts, func(a, b fleet.Verdict) int { return fleet.CompareRefs(a.Ref, b.Ref) })
	slices.SortFunc(r.Findings, func(a, b fleet.Finding) int {
		return cmp.Or(fleet.CompareRefs(a.Ref, b.Ref), cmp.Compare(a.Condition, b.Condition))
	})
	return r
}

func TestResourcesInAnyOrderAndInAnyPartsGetTheSameAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLeftovers(t)
		for _, p := range []policies.Policy{l.snapshots, l.orphans} {
			want := p.Decide(l.view)
			v := l.view
			v.Things.Resources = rapid.Permutation(v.Things.Resources).Draw(t, "again")
			if got := p.Decide(v); !reflect.DeepEqual(want, got) {
				t.Fatalf("%T: another order, another answer:\n%+v\n%+v", p, want, got)
			}
			ordered := slices.SortedFunc(slices.Values(l.view.Things.Resources), policies.CompareGroups)
			least, parts, seen := rapid.IntRange(-1, 15).Draw(t, "least"), policies.Result{}, 0
			for some := range policies.Groups(ordered, least) {
				if len(some) < min(least, len(ordered)-seen) || len(some) == 0 {
					t.Fatalf("a part of %d, want %d or more", len(some), least)
				}
				seen += len(some)
				v.Things.Resources = some
				r := p.Decide(v)
				parts.Verdicts, parts.Findings = append(parts.Verdicts, r.Verdicts...), append(parts.Findings, r.Findings...)
			}
			if seen != len(ordered) || !reflect.DeepEqual(byRef(want), byRef(parts)) {
				t.Fatalf("%T: asked in parts of %d, another answer:\n%+v\n%+v", p, least, want, parts)
			}
		}
	})
}

func TestEveryMatchedResourceGetsOneVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLeftovers(t)
		for p, kinds := range map[policies.Policy][]fleet.ThingKind{&l.snapshots: l.snapshots.Kinds, &l.orphans: l.orphans.Kinds} {
			got := p.Decide(l.view)
			for _, r := range l.view.Things.Resources {
				of := func(ref fleet.Ref) bool { return ref == r.Ref }
				ok, err := l.snapshots.Match(r.Subject())
				verdicts, unread := 0, 0
				for _, v := range got.Verdicts {
					if of(v.Ref) {
						verdicts++
					}
				}
				for _, f := range got.Findings {
					if of(f.Ref) && f.Condition == policies.ConditionMatchUnreadable {
						unread++
					}
				}
				about := slices.Contains(kinds, r.Ref.Kind)
				if (verdicts == 1) != (about && ok && err == nil) || verdicts > 1 || (unread == 1) != (about && err != nil) {
					t.Fatalf("%T: %d verdicts on %s, %d findings that it could not be matched", p, verdicts, r.Ref, unread)
				}
			}
		}
	})
}
