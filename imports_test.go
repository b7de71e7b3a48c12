// Package curfew_test checks what no single package can: who imports whom, and
// that what exists is documented.
package curfew_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "curfew/"

// layers lists every package from the ground up. A package imports only from
// layers below its own, so two of one layer never know each other. A name beats
// a pattern.
func layers() [][]string {
	return [][]string{
		{"fleet"},
		{
			"policies", "providers", "signals",
			"internal/advice", "internal/estimate", "internal/guard", "internal/ledger", "internal/press", "internal/proc", "internal/sched", "internal/sshx", "internal/text",
		},
		{"notify", "internal/boxrun", "internal/httpx", "internal/look"},
		// Adapters, sources and channels never import a sibling: each can be read,
		// tested and thrown away by itself.
		{"providers/*", "signals/*", "notify/*", "internal/boxsh", "internal/store"},
		{
			"providers/all", "notify/all", "internal/accept", "internal/observe", "internal/execute", "internal/export",
			// The doubles of a platform, a channel or a server, for tests.
			"providers/*/*test", "notify/*/*test", "internal/*/*test",
		},
		{"internal/config", "internal/ctl", "internal/bench", "internal/setup"},
		{"internal/web", "internal/docgen", "internal/doctor"},
		{"internal/app"}, // the one place that knows everything
		{"cmd/*"},
	}
}

// pure are the packages that decide. They see values only: matchers, schedules,
// clocks and stores stay outside, handed in as functions or read beforehand.
func pure() map[string]pureRule {
	return map[string]pureRule{
		"fleet":             {why: "the vocabulary stands on the standard library alone"},
		"policies":          {may: []string{"fleet"}, why: "a decision must be the same for the same view"},
		"internal/advice":   {may: []string{"fleet"}, why: "what is told of a run rests on what was seen alone"},
		"internal/estimate": {may: []string{"fleet"}, why: "what is to be paid can be reckoned again by hand"},
		"internal/guard":    {may: []string{"fleet"}, why: "what may say no must not depend on what can fail"},
		"internal/ledger":   {may: []string{"fleet"}, why: "sums over stored facts can be reckoned again"},
		"internal/press":    {std: []string{"crypto/hmac", "encoding/base64", "encoding/binary"}, why: "a value must say the same whoever reads it"},
		"internal/text":     {may: []string{"fleet"}, std: []string{"text/template"}, why: "reasons are rendered from values alone"},
	}
}

type pureRule struct {
	may []string // packages of ours
	std []string // beyond pureStandard
	why string
}

// pureStandard is the part of the standard library that touches nothing.
func pureStandard() []string {
	return []string{
		"bytes", "cmp", "context", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "hash/fnv",
		"iter", "maps", "math", "math/big", "math/bits", "path", "regexp", "slices", "sort", "strconv", "strings",
		"time", "unicode", "unicode/utf8",
	}
}

// planned are packages that the tables name before they are written. A rule for
// any other package that does not exist is a mistake: it guards nothing.
func planned() []string {
	return []string{}
}

// imports reads what every package imports outside its tests, whatever the
// platform it is built for.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(file))
		if found[pkg] == nil {
			found[pkg] = map[string]bool{}
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg][name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found["fleet"] == nil {
		t.Fatal("package fleet was not found; is this the root of the module?")
	}
	all := map[string][]string{}
	for pkg, names := range found {
		all[pkg] = slices.Sorted(maps.Keys(names))
	}
	return all
}

// layerOf is the package's layer, counted from 0, or -1.
func layerOf(pkg string) int {
	pattern := -1
	for n, layer := range layers() {
		for _, name := range layer {
			if name == pkg {
				return n
			}
			if ok, err := path.Match(name, pkg); err == nil && ok {
				pattern = n
			}
		}
	}
	return pattern
}

func TestImportsPointDownOnly(t *testing.T) {
	all := imports(t)
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		layer := layerOf(pkg)
		if layer < 0 {
			t.Errorf("%s is in no layer; give it a place in layers", pkg)
			continue
		}
		for _, name := range all[pkg] {
			ours, ok := strings.CutPrefix(name, module)
			if !ok {
				continue
			}
			switch below := layerOf(ours); {
			case below == layer && path.Dir(ours) == path.Dir(pkg) && path.Dir(pkg) != "internal":
				t.Errorf("%s imports its sibling %s; move what both need to %s, or say it twice", pkg, ours, path.Dir(pkg))
			case below >= layer:
				t.Errorf("%s (layer %d) imports %s (layer %d); imports point down only", pkg, layer, ours, below)
			}
			if strings.HasSuffix(ours, "test") && !strings.HasSuffix(pkg, "test") {
				t.Errorf("%s imports %s outside its tests; a test kit has no place in the program", pkg, ours)
			}
		}
	}
}

func TestPurePackagesTouchNothing(t *testing.T) {
	all := imports(t)
	for _, pkg := range slices.Sorted(maps.Keys(pure())) {
		rule := pure()[pkg]
		for _, name := range all[pkg] {
			ours, isOurs := strings.CutPrefix(name, module)
			allowed := slices.Contains(rule.may, ours)
			if !isOurs {
				allowed = slices.Contains(pureStandard(), name) || slices.Contains(rule.std, name)
			}
			if !allowed {
				t.Errorf("%s imports %s: %s", pkg, name, rule.why)
			}
		}
	}
}

func TestRulesNamePackagesThatExist(t *testing.T) {
	all := imports(t)
	exists := func(name string) bool {
		for pkg := range all {
			if ok, err := path.Match(name, pkg); err == nil && ok {
				return true
			}
		}
		return false
	}
	named := slices.Collect(maps.Keys(pure()))
	for _, layer := range layers() {
		named = append(named, layer...)
	}
	slices.Sort(named)
	for _, name := range slices.Compact(named) {
		if !exists(name) && !slices.Contains(planned(), name) {
			t.Errorf("a rule is about %s, which does not exist; take the rule away or mend its name", name)
		}
	}
	for _, name := range planned() {
		if !slices.Contains(named, name) {
			t.Errorf("%s is planned, but no rule is about it", name)
		}
		if exists(name) {
			t.Logf("%s exists now; it need not be planned any more", name)
		}
	}
}
