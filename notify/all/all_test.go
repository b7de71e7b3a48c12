package all_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"curfew/notify"
	"curfew/notify/all"
)

func TestKindsAreCompleteAndInOrder(t *testing.T) {
	kinds := all.Kinds()
	if !slices.IsSortedFunc(kinds, func(a, b notify.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("kinds are not in the order of their names")
	}
	seen := map[string]bool{}
	for _, k := range kinds {
		if k.Name == "" || seen[k.Name] || k.Title == "" || k.Open == nil {
			t.Errorf("kind %q is there twice or lacks a name, a title or Open", k.Name)
		}
		seen[k.Name] = true
		if k.DefaultURL != "" {
			if u, err := url.Parse(k.DefaultURL); err != nil || u.Scheme != "https" {
				t.Errorf("kind %s: default address %q is not https", k.Name, k.DefaultURL)
			}
		}
		if _, err := k.Open(notify.Options{Name: "ch-1", BaseURL: k.DefaultURL}); err == nil || !strings.Contains(err.Error(), "ch-1") {
			t.Errorf("kind %s opens with nothing given, or does not name the channel: %v", k.Name, err)
		}
	}
	if !seen[notify.ConsoleKind] {
		t.Error("the console is missing")
	}
}
