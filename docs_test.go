package curfew_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/notify"
	channels "curfew/notify/all"
	platforms "curfew/providers/all"
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
		t.Fatal("providers/all is not there")
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

// pages lists every page of the documentation.
func pages(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(file, ".md") {
			files = append(files, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Links between pages, and from pages to files and headings, lead somewhere.
func TestDocumentsLinkToWhatExists(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	for _, file := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page(t, file), -1) {
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			to := file
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(page(t, to)), m[2]) {
				t.Errorf("%s links to %s%s; that page has no such heading", file, m[1], m[2])
			}
		}
	}
}

// anchors gives what links to a page's headings end in.
func anchors(page string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		all = append(all, "#"+strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return all
}

// What the pages show of a configuration is one. What a part of one leaves out is
// filled in with accounts and a source of signals.
func TestExampleConfigurationsLoad(t *testing.T) {
	reg := config.Registry{Providers: platforms.Kinds(), Channels: channels.Kinds()}
	top := regexp.MustCompile(`^(#.*\n)*(mode|timezone|language|state|ping|listen|public_url|accounts|signals|protect|caps|hold|people|policies|exec|notify|advice|rates|accept):`)
	quotes, jobs := regexp.MustCompile(`(?m)^quotes:`), regexp.MustCompile(`^jobs:`)
	found := 0
	for _, file := range pages(t) {
		for _, m := range regexp.MustCompile("(?ms)^( *)```ya?ml\n(.*?)^ *```$").FindAllStringSubmatch(page(t, file), -1) {
			block := regexp.MustCompile("(?m)^"+m[1]).ReplaceAllString(m[2], "")
			switch {
			case top.MatchString(block):
			case quotes.MatchString(block):
				found++
				if _, err := config.Quotes(file, []byte(block)); err != nil {
					t.Errorf("%s: a price list does not load:\n%v\n%s", file, err, block)
				}
				continue
			case jobs.MatchString(block):
				found++
				if _, err := config.Jobs(file, []byte(block)); err != nil {
					t.Errorf("%s: a list of jobs does not load:\n%v\n%s", file, err, block)
				}
				continue
			default:
				t.Errorf("%s shows YAML that begins with no key of the configuration:\n%s", file, block)
				continue
			}
			found++
			for key, filled := range map[string]string{
				"accounts": "accounts: [{name: autodl, provider: autodl, token: {env: AUTODL_TOKEN}}, {name: box, provider: machines, machines: [{name: box-1, host: local}]}]\n",
				"signals":  "signals: [{type: ssh}]\n",
			} {
				if !regexp.MustCompile("(?m)^" + key + ":").MatchString(block) {
					block += filled
				}
			}
			if _, err := config.Parse(file, []byte(block), reg); err != nil {
				t.Errorf("%s: an example does not load:\n%v\n%s", file, err, block)
			}
		}
	}
	if found == 0 {
		t.Error("no example was found; is the test looking at the right pages?")
	}
}

// The reference of the configuration and the sample that holds every key name
// the same keys: a row is headed by its key, below its part's heading.
func TestEveryKeyOfTheConfigurationIsDocumented(t *testing.T) {
	const name = "docs/reference/config.md"
	documented := map[string]bool{}
	part := ""
	for line := range strings.SplitSeq(page(t, name), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			if part = heading + "."; heading == "top" {
				part = ""
			}
		}
		if m := regexp.MustCompile("^\\| `([a-z_.]+)` \\|").FindStringSubmatch(line); m != nil {
			if documented[part+m[1]] {
				t.Errorf("%s has two rows for %s", name, part+m[1])
			}
			documented[part+m[1]] = true
		}
	}
	const sample = "internal/config/testdata/ok/everything.yaml"
	var all any
	if err := yaml.Unmarshal([]byte(page(t, sample)), &all); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	keys("", all, known)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if !documented[key] {
			t.Errorf("%s has no row for %s, which is in %s", name, key, sample)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(documented)) {
		if !known[key] {
			t.Errorf("%s has a row for %s, which is not in %s", name, key, sample)
		}
	}
}

// keys collects the paths of all keys. What stands below labels and prices is the
// user's own, and below at a share; secrets and caps are one value, whatever they consist of.
func keys(path string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		whole := regexp.MustCompile(`(^|\.)(labels?|prices|fx|token|key|password|header|secrets|at)$|^caps\.`)
		if whole.MatchString(path) {
			into[path] = true
			return
		}
		if path == "notify.channels" && !slices.ContainsFunc(channels.Kinds(), func(k notify.Kind) bool { return k.Name == v["type"] }) {
			return // a channel of the sample's own
		}
		for key, child := range v {
			keys(strings.TrimPrefix(path+"."+key, "."), child, into)
		}
	case []any:
		for _, child := range v {
			if _, part := child.(map[string]any); part {
				keys(path, child, into)
			} else {
				into[path] = true
			}
		}
	default:
		into[path] = true
	}
}
