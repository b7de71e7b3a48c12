package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a container or a stick without zone files knows its zone too

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"curfew/fleet"
	"curfew/internal/text"
)

// reader is the reading of one file: what it may name, what was read so far and
// what was wrong.
type reader struct {
	file     string
	reg      Registry
	cfg      *Config
	mode     node   // where the file says it
	here     string // the path of the machine curfew runs in; empty: none is declared
	far      []farMachine
	logins   map[string]string // the paths of machines by where one logs in
	instead  string            // what to write where a file is empty; a whole configuration where nothing is said
	problems Problems
}

func (r *reader) report(at Pos, path, what, right string) {
	r.problems = append(r.problems, Problem{File: r.file, Pos: at, Path: path, What: what, Right: right})
}

// beside gives a path inside the file as seen from where the program runs.
func (r *reader) beside(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.file), path)
}

// parse reads the file as YAML. A file that is not YAML has one problem only,
// since nothing can be said of the rest.
func (r *reader) parse(data []byte) (node, bool) {
	start := Pos{Line: 1, Col: 1}
	source := strings.TrimPrefix(string(data), "\ufeff")
	file, err := parseYAML([]byte(source))
	if err != nil {
		at, what := start, "is not YAML"
		if e, ok := errors.AsType[yaml.Error](err); ok {
			what += ": " + e.GetMessage()
			if t := e.GetToken(); t != nil && t.Position != nil {
				at = Pos{Line: t.Position.Line, Col: t.Position.Column}
			}
		}
		r.report(at, "", what, "check indentation, colons and quotes here and just before")
		return node{}, false
	}
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d.Body)
		}
	}
	switch {
	case len(docs) == 0:
		r.report(start, "", "is empty", cmp.Or(r.instead, "start from deploy/curfew.example.yaml"))
		return node{}, false
	case len(docs) > 1:
		r.report(posOf(docs[1], start), "", "is a second document", "keep everything in one, without ---")
	}
	n := r.at(docs[0], posOf(docs[0], start), "")
	return n, n.given()
}

// parseYAML parses, and turns a panic of the parser into an error.
func parseYAML(data []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// config decodes the whole file. What later parts refer to comes first.
func (r *reader) config(root node) {
	m := root.mapping()
	if !m.given() {
		return
	}
	c := r.cfg
	r.logins = map[string]string{}
	r.mode = m.take("mode")
	c.Mode = mode(r.mode, fleet.DryRun)
	c.Timezone = r.zone(m.take("timezone"))
	c.Language = language(m.take("language"))
	c.State = r.state(m.take("state"))
	c.History = r.history(m.take("history"))
	r.accounts(m.need("accounts", "write accounts: [{name: NAME, provider: PROVIDER}]"))
	r.signals(m.take("signals"))
	r.machineLogins()
	r.ping(m.take("ping"))
	r.listen(m.take("listen"), m.take("web"))
	c.PublicURL = m.take("public_url").webURL()
	r.protect(m.take("protect"))
	r.caps(m.take("caps"))
	r.hold(m.take("hold"))
	r.people(m.take("people"))
	r.policies(m.take("policies"))
	r.exec(m.take("exec"))
	r.notify(m.take("notify"))
	r.advice(m.take("advice"))
	r.rates(m.take("rates"))
	c.Accept = acceptance(m.take("accept"))
	m.done()
}

func mode(n node, def fleet.Mode) fleet.Mode {
	return fleet.Mode(n.word(string(def), string(fleet.DryRun), string(fleet.Enforce)))
}

// atMost reads a ceiling; Keep is none.
func atMost(n node) fleet.Action {
	if n.word("", "stop") == "stop" {
		return fleet.Stop
	}
	return fleet.Keep
}

func language(n node) text.Language {
	return text.Language(n.word("", string(text.English), string(text.Chinese)))
}

func (r *reader) zone(n node) *time.Location {
	zone := r.reg.Zone
	if zone == nil {
		zone = time.UTC
	}
	name := n.text("")
	if name == "" {
		return zone
	}
	named, err := time.LoadLocation(name)
	if err != nil {
		n.bad(fmt.Sprintf("%q is not a time zone", name), "write a name such as Asia/Shanghai or UTC")
		return zone
	}
	return named
}

func (r *reader) state(n node) string {
	const scheme = "sqlite:"
	s := n.text(scheme + "/var/lib/curfew/curfew.db")
	path, ok := strings.CutPrefix(s, scheme)
	switch {
	case strings.HasPrefix(s, "postgres:") || strings.HasPrefix(s, "postgresql:"):
		// Not repeated: it holds a password.
		n.bad("PostgreSQL is not in this version", "write sqlite:/var/lib/curfew/curfew.db")
	case !ok:
		n.bad("is not a place for the state", "write sqlite: and a path, such as sqlite:/var/lib/curfew/curfew.db")
	case path == "" || strings.HasPrefix(path, ":memory:") || strings.ContainsAny(path, "?#"):
		n.bad("does not name a file to keep the state in", "write sqlite:/var/lib/curfew/curfew.db")
	}
	return scheme + r.beside(path)
}

func (r *reader) history(n node) time.Duration {
	const day = 24 * time.Hour
	d := n.span(90 * day)
	if d < day {
		n.bad(spanText(d)+" is too short to explain anything", "write 1d or more, such as 90d")
	}
	return d
}

func (r *reader) protect(n node) {
	m := n.mapping()
	if labels := m.take("labels").mapping(); labels.given() {
		r.cfg.Protect.Labels = map[string]string{}
		for key, v := range labels.all() {
			r.cfg.Protect.Labels[key] = v.text("")
		}
	}
	for _, v := range m.take("names").oneOrMany() {
		if glob := v.glob(); glob != "" {
			r.cfg.Protect.Names = append(r.cfg.Protect.Names, glob)
		}
	}
	m.done()
}

func (r *reader) caps(n node) {
	m := n.mapping()
	for _, c := range []struct {
		key string
		cap *Cap
		def Cap
	}{
		{"start", &r.cfg.Caps.Start, Cap{PerHour: 5}},
		{"stop", &r.cfg.Caps.Stop, Cap{PerHour: 30, Percent: 50}},
		{"release", &r.cfg.Caps.Release, Cap{PerHour: 10, Percent: 30}},
		{"delete", &r.cfg.Caps.Delete, Cap{PerHour: 100}},
		{"order", &r.cfg.Caps.Order, Cap{PerHour: 1}},
		{"money", &r.cfg.Caps.Money, Cap{}},
	} {
		one := m.take(c.key).mapping()
		c.cap.PerHour = one.take("per_hour").whole(c.def.PerHour, 1, true)
		c.cap.Percent = one.take("percent").share(c.def.Percent)
		one.done()
	}
	m.done()
}

// share reads a whole percentage, or off for 0.
func (n node) share(def int) int {
	n = n.as(form{kind: kindShare, off: true, def: percentText(float64(def))})
	p := n.percent(float64(def), true)
	if p != float64(int(p)) {
		n.bad("is not a whole percentage", "write "+fmt.Sprint(int(p)+1)+"%")
	}
	return int(p)
}

// unique reports an entry whose name another has.
func unique(n node, name string, seen map[string]string) {
	if name == "" {
		return
	}
	if first, twice := seen[name]; twice {
		n.bad(fmt.Sprintf("%q is the name of %s already", name, first), "give each its own name")
		return
	}
	seen[name] = strings.TrimSuffix(strings.TrimSuffix(n.path, ".name"), ".owner")
}

func contains(words []string, word string) bool { return slices.Contains(words, word) }
