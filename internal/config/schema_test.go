package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	channels "curfew/notify/all"
	platforms "curfew/providers/all"
)

// The schemas, of what the files in testdata may name and of the program's own;
// each is made once.
var (
	ofTests   = sync.OnceValues(func() ([]byte, error) { return Schema(registry()) })
	ofProgram = sync.OnceValues(func() ([]byte, error) { return Schema(whole()) })
)

func whole() Registry { return Registry{Providers: platforms.Kinds(), Channels: channels.Kinds()} }

// editor checks a file as an editor does: by the schema alone, with a validator
// that is not ours.
func editor(t *testing.T, made func() ([]byte, error)) func(data []byte) error {
	t.Helper()
	source, err := made()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("curfew.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("curfew.schema.json") // checks it by the schema of schemas
	if err != nil {
		t.Fatalf("the schema itself is not right: %v", err)
	}
	return func(data []byte) error {
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			return err
		}
		return s.Validate(v)
	}
}

func every(t *testing.T, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no file is named %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

func TestTheSchemaTakesWhatTheReaderTakes(t *testing.T) {
	check := editor(t, ofTests)
	for _, f := range every(t, "testdata/ok/*.yaml", "testdata/design.yaml") {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(data); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	check = editor(t, ofProgram)
	for _, f := range every(t, "../../deploy/*.yaml") {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(data); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// What only the whole file shows to be wrong is beyond a schema: these say
// nothing that it could refuse.
func beyondTheSchema() []string {
	return []string{"lifetime", "match", "no-signals", "offhours", "unrouted", "idle", "state", "syntax", "syntax-tab", "two-documents", "anchors", "duplicate-keys", "hold-total"}
}

func TestTheSchemaRefusesWhatIsWrittenWrong(t *testing.T) {
	check := editor(t, ofTests)
	for _, f := range every(t, "testdata/bad/*.yaml") {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		refused := check(data) != nil
		if name := strings.TrimSuffix(filepath.Base(f), ".yaml"); !refused && !slices.Contains(beyondTheSchema(), name) {
			t.Errorf("%s: the schema takes it", f)
		}
	}
}

// One mistake each, in a file that is right otherwise.
func TestTheSchemaSeesEachMistake(t *testing.T) {
	good, err := os.ReadFile("testdata/ok/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	check := editor(t, ofTests)
	for what, edit := range map[string][2]string{
		"an unknown key at the top":              {"history: 30d", "histroy: 30d"},
		"an unknown key of a policy":             {"    grace: 30s", "    grease: 30s"},
		"a key of another type of policy":        {"    max: 3d", "    max: 3d\n    grace: 5m"},
		"a key of another kind of signal":        {"  - type: local", "  - type: local\n    user: root"},
		"an unknown provider":                    {"provider: autodl", "provider: autodle"},
		"a credential of another provider":       {"token: {file: secrets/token}", "token: {file: secrets/token}\n    access_key_id: {env: A}"},
		"a missing credential":                   {"    token: {file: secrets/token}\n", ""},
		"a secret in the file itself":            {"token: {file: secrets/token}", "token: abc"},
		"a secret kept in two places":            {"token: {file: secrets/token}", "token: {file: secrets/token, env: TOKEN}"},
		"a secret kept nowhere known":            {"token: {file: secrets/token}", "token: {vault: token}"},
		"a length of time without a unit":        {"poll: 1h30m", "poll: 90"},
		"no time at all":                         {"poll: 1h30m", "poll: 0s"},
		"off where nothing may be off":           {"poll: 1h30m", "poll: off"},
		"money without a currency":               {"RTX 4090: 1.98 CNY", "RTX 4090: 1.98"},
		"a share without a sign":                 {"busy_above: 7.5%", "busy_above: 7.5"},
		"an unknown word":                        {"mode: enforce", "mode: enforced"},
		"a number for text":                      {`id: "12345"`, "id: 12345"},
		"text for a number":                      {"per_minute: 5", "per_minute: five"},
		"a number that is too small":             {"looks: 3", "looks: 1"},
		"a truth value in words":                 {"approval: true", "approval: certainly"},
		"a list for a block":                     {"confirm: {looks: 3, apart: 2m}", "confirm: [3, 2m]"},
		"a block for a list":                     {"  routes:\n    - {category: money, to: wx}\n    - {category: [act, health], to: [wx, term]}\n    - {to: team}", "  routes: {to: team}"},
		"an unknown category":                    {"category: money", "category: cash"},
		"a route to nowhere":                     {"{to: team}", "{category: stock}"},
		"a policy without a match":               {"    match: all\n    max: 3d", "    max: 3d"},
		"a policy that wishes nothing":           {"    max: 3d\n    then: stop", "    max: 3d"},
		"a match of one word":                    {"    match: all\n    max: 3d", "    match: everything\n    max: 3d"},
		"a channel without any of its secrets":   {", bot_token: {env: SLACK}", ""},
		"an address that is none":                {"base_url: https://proxy.lab.example/autodl/", "base_url: proxy.lab.example"},
		"a ping listener without a port":         {`listen: "0.0.0.0:8421"`, "listen: everywhere"},
		"a relative path inside":                 {"file: /root/out/DONE", "file: out/DONE"},
		"a name with a slash":                    {"name: limit", "name: the/limit"},
		"a key without a value":                  {"history: 30d", "history:"},
		"no account at all":                      {"accounts:", "accounts: []\nx:"},
		"a date that is none":                    {"expires: 2027-01-31", "expires: soon"},
		"an unknown key of a machine":            {"auto_release: 15d", "autorelease: 15d"},
		"a value of the wrong sort in free keys": {`labels: {team: "infra"}`, "labels: {team: 7}"},
	} {
		t.Run(what, func(t *testing.T) {
			bad := strings.Replace(string(good), edit[0], edit[1], 1)
			if bad == string(good) {
				t.Fatalf("everything.yaml says nothing like %q", edit[0])
			}
			if _, err := Parse("bad.yaml", []byte(bad), registry()); err == nil {
				t.Error("the reader takes it")
			}
			if err := check([]byte(bad)); err == nil {
				t.Error("the schema takes it")
			}
		})
	}
	if err := check(good); err != nil {
		t.Errorf("without a mistake it is refused: %v", err)
	}
}

func TestTheSchemaIsAlwaysTheSame(t *testing.T) {
	first, err := ofTests()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Schema(registry()); err != nil || !bytes.Equal(first, again) {
		t.Fatalf("another schema was made of the same reader: %v", err)
	}
}

// What is refused as not in this version is not offered.
func TestTheSchemaOffersNothingOfALaterVersion(t *testing.T) {
	source, err := ofTests()
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Properties map[string]any }
	if err := json.Unmarshal(source, &s); err != nil {
		t.Fatal(err)
	}
	if s.Properties["policies"] == nil || strings.Contains(string(source), `"age"`) {
		t.Errorf("keys of the top: %v, or an age to match is among the others", slices.Sorted(maps.Keys(s.Properties)))
	}
}

// The text of a key stands in describe and nowhere else: one line for a new key.
func TestEveryKeyHasItsDescription(t *testing.T) {
	texts, seen := describe(), map[string]bool{}
	var walk func(path string, a *asked)
	walk = func(path string, a *asked) {
		for key, k := range a.keys {
			walk(strings.TrimPrefix(path+"."+key, "."), k.value)
		}
		for _, item := range a.items {
			walk(path, item)
		}
		if path == "" || seen[path] || a.unread() {
			return
		}
		ofRegistry := slices.ContainsFunc(a.forms, func(f form) bool { return f.kind == kindSecret || f.kind == kindAny })
		seen[path] = true
		switch text := described(texts, path); {
		case text == "" && !ofRegistry:
			t.Errorf("describe.go has no line for %s", path)
		case text != "" && !regexp.MustCompile(`^\S.*\.$`).MatchString(text):
			t.Errorf("the text of %s is no sentence: %q", path, text)
		}
	}
	walk("", survey(whole()))
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if !seen[path] {
			t.Errorf("describe.go has a line for %s, which is no key", path)
		}
	}
}
