package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	platforms "curfew/providers/all"
)

func TestPagesAreUpToDate(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", name))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("docs/reference/%s is out of date; run make generate (-want +got):\n%s", name, diff)
		}
	}
}

func TestEveryCapabilityHasARow(t *testing.T) {
	for _, k := range platforms.Kinds() {
		for _, c := range k.Capabilities {
			if !slices.ContainsFunc(capabilities(), func(row capability) bool { return row.is == c }) {
				t.Errorf("%s can %s, and the table of platforms has no row for it", k.Name, c)
			}
		}
	}
}

func TestTextsAreShownAsPeopleReadThem(t *testing.T) {
	for source, want := range map[string]string{
		"stopped":                               "stopped",
		"a run{{if .run}} ({{.run}}){{end}}":    "a run[ (‹run›)]",
		"{{if .said}}{{.said}}{{else}}-{{end}}": "[‹said› | -]",
		"read {{.file}}:\n{{.log}}":             "read ‹file›:\n‹log›",
	} {
		if got, err := readable(source); err != nil || got != want {
			t.Errorf("%q is shown as %q (%v), want %q", source, got, err, want)
		}
	}
	for _, source := range []string{"{{.run", "{{range .runs}}{{.}}{{end}}"} {
		if got, err := readable(source); err == nil {
			t.Errorf("%q is shown as %q, want an error", source, got)
		}
	}
}
