package curfew_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"curfew/fleet"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Errorf("a page is missing: %v", err)
	}
	return string(data)
}

func TestEveryProviderIsDocumented(t *testing.T) {
	all := imports(t)["providers/all"]
	if all == nil {
		t.Skip("providers/all is not written yet")
	}
	kinds := 0
	for _, name := range all {
		kind, ok := strings.CutPrefix(name, module+"providers/")
		if !ok {
			continue
		}
		kinds++
		if en := page(t, "docs/providers/"+kind+".md"); !strings.Contains(en, kind) {
			t.Errorf("docs/providers/%s.md does not name provider: %s", kind, kind)
		}
		zh := page(t, "docs/providers/"+kind+".zh-CN.md")
		if !strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("docs/providers/%s.zh-CN.md has no Chinese in it", kind)
		}
	}
	if kinds == 0 {
		t.Error("providers/all lists no provider")
	}
}

// The table has a row per kind: | `kind` | meaning | reaction |.
func TestEveryErrorKindIsDocumented(t *testing.T) {
	const name = "docs/reference/errors.md"
	var listed []fleet.ErrorKind
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (.+) \\| (.+) \\|$").FindAllStringSubmatch(page(t, name), -1) {
		kind := fleet.ErrorKind(row[1])
		if !slices.Contains(fleet.ErrorKinds(), kind) {
			t.Errorf("%s has a row for %s, which is no kind of error", name, kind)
		}
		if slices.Contains(listed, kind) {
			t.Errorf("%s has two rows for %s", name, kind)
		}
		listed = append(listed, kind)
	}
	for _, kind := range fleet.ErrorKinds() {
		if !slices.Contains(listed, kind) {
			t.Errorf("%s has no row with meaning and reaction for %s", name, kind)
		}
	}
}

// Links between pages, and from pages to files, lead somewhere.
func TestDocumentsLinkToWhatExists(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	err := filepath.WalkDir(".", func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".md") {
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(page(t, file), -1) {
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
