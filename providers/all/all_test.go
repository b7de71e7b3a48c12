package all_test

import (
	"slices"
	"strings"
	"testing"

	"curfew/providers"
	"curfew/providers/all"
)

func TestKindsAreCompleteAndInOrder(t *testing.T) {
	kinds := all.Kinds()
	if !slices.IsSortedFunc(kinds, func(a, b providers.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("kinds are not in the order of their names")
	}
	seen := map[string]bool{}
	for _, k := range kinds {
		if k.Name == "" || seen[k.Name] || k.Title == "" || k.Open == nil {
			t.Errorf("kind %q is there twice or lacks a name, a title or Open", k.Name)
		}
		seen[k.Name] = true
		if len(k.Credentials) > 0 && !strings.HasPrefix(k.DefaultURL, "https://") {
			t.Errorf("kind %s takes a credential and its default address %q is not https", k.Name, k.DefaultURL)
		}
		if _, err := k.Open(providers.Options{Account: "acc-1", BaseURL: k.DefaultURL}); err == nil {
			t.Errorf("kind %s opens with neither credential nor world", k.Name)
		}
	}
	if !seen["autodl"] || !seen["sim"] {
		t.Error("a platform is missing")
	}
}
