package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"curfew/fleet"
	"curfew/policies"
)

// condition is one key of a match: what it asks of an instance, and the property
// it reads, by the name used in Instance.Unread; empty where it is always known.
type condition struct {
	reads []string
	holds func(i fleet.Instance) (bool, error)
}

// Matched is one key of a match and what is asked of it, any of the words.
type Matched struct {
	Key   string
	Words []string
}

// matchAll is the text of a match without conditions.
const matchAll = "all"

// matcher is a compiled match.
type matcher struct {
	match    policies.Match
	text     string // for people
	on       []Matched
	accounts []string // named by it; none: any
	kinds    []string // platforms named by it; none: any
}

// match compiles what a policy is about. There is no match by default: a policy
// that forgot to say would be about everything.
func (r *reader) match(m *mapping) matcher {
	return r.matching(m.need("match", `write match: {account: NAME, name: "exp-*"}, or match: all for everything`))
}

func (r *reader) matching(n node) matcher {
	n.as(oneOf(kindWord, "", []string{matchAll}))
	if s, ok := n.source(); ok {
		if s != matchAll {
			n.bad(fmt.Sprintf("%q is not a match", s), `write {name: "exp-*"}, or all for everything`)
		}
		return matcher{match: all(nil), text: matchAll}
	}
	keys := n.mapping()
	if keys.given() && len(keys.keys) == 0 {
		n.bad("is empty, and would be about everything", "write match: all if that is meant")
	}
	var out matcher
	var conditions []condition
	var texts []string
	add := func(key string, words []string, c condition) {
		if len(words) > 0 {
			conditions = append(conditions, c)
			texts = append(texts, key+" "+strings.Join(words, " or "))
			out.on = append(out.on, Matched{Key: key, Words: words})
		}
	}

	out.accounts = r.references(keys.take("account"), r.accountNames(), "an account")
	add("account", out.accounts, condition{holds: isOneOf(out.accounts, func(i fleet.Instance) string { return i.AccountName })})
	out.kinds = r.references(keys.take("provider"), r.providerNames(), "a provider")
	add("provider", out.kinds, condition{holds: isOneOf(out.kinds, func(i fleet.Instance) string { return i.Provider })})
	for _, k := range []struct {
		key  string
		fold bool
		of   func(i fleet.Instance) string
	}{
		{"name", false, func(i fleet.Instance) string { return i.Name }},
		{"owner", false, func(i fleet.Instance) string { return i.Owner }},
		{"gpu", true, func(i fleet.Instance) string { return i.GPU.Model }},
		{"region", false, func(i fleet.Instance) string { return i.Region }},
	} {
		globs := globs(keys.take(k.key))
		add(k.key, globs, condition{reads: []string{k.key}, holds: isLike(globs, k.fold, k.of)})
	}
	states := words(keys.take("state"), "running", "starting", "stopping", "stopped", "creating", "releasing", "failed", "unknown")
	add("state", states, condition{reads: []string{"state"}, holds: isOneOf(states, func(i fleet.Instance) string { return i.State.String() })})
	if labels := keys.take("label").mapping(); labels.given() {
		for _, key := range labels.keys {
			glob := labels.take(key).glob()
			add("label", []string{key + "=" + glob}, condition{reads: []string{"labels"}, holds: hasLabel(key, glob)})
		}
		if len(labels.keys) == 0 {
			labels.bad("is empty", "write {key: value}, or leave the key out")
		}
	}
	if n := keys.take("expr"); n.given() {
		source := n.text("")
		add("expr", []string{strings.TrimSpace(source)}, n.expression(source))
	}
	keys.notYet("age", "at_most")
	keys.done()

	out.match, out.text = all(conditions), strings.Join(texts, ", ")
	if len(conditions) == 0 {
		out.match = func(fleet.Instance) (bool, error) { return false, nil }
	}
	return out
}

// all asks every condition. An instance that fails one that can be read is not
// meant; else one that cannot be read makes an error.
func all(conditions []condition) policies.Match {
	return func(i fleet.Instance) (bool, error) {
		var unread error
		for _, c := range conditions {
			if at := slices.IndexFunc(c.reads, func(p string) bool { return slices.Contains(i.Unread, p) }); at >= 0 {
				unread = fmt.Errorf("match %s: %s could not be read", i.Ref, c.reads[at])
				continue
			}
			ok, err := c.holds(i)
			if err != nil {
				unread = fmt.Errorf("match %s: %w", i.Ref, err)
			} else if !ok {
				return false, nil
			}
		}
		return unread == nil, unread
	}
}

func isOneOf(words []string, of func(fleet.Instance) string) func(fleet.Instance) (bool, error) {
	return func(i fleet.Instance) (bool, error) { return slices.Contains(words, of(i)), nil }
}

func isLike(globs []string, fold bool, of func(fleet.Instance) string) func(fleet.Instance) (bool, error) {
	as := func(s string) string { return s }
	if fold {
		as = strings.ToLower
	}
	return func(i fleet.Instance) (bool, error) {
		return slices.ContainsFunc(globs, func(glob string) bool {
			ok, err := path.Match(as(glob), as(of(i)))
			return ok && err == nil
		}), nil
	}
}

func hasLabel(key, glob string) func(fleet.Instance) (bool, error) {
	return func(i fleet.Instance) (bool, error) {
		value, ok := i.Labels[key]
		if !ok {
			return false, nil
		}
		ok, err := path.Match(glob, value)
		return ok && err == nil, nil
	}
}

// references reads names that must exist.
func (r *reader) references(n node, known []string, what string) []string {
	var names []string
	for _, v := range n.listed() {
		name := v.text("")
		if name == "" {
			continue
		}
		if !slices.Contains(known, name) {
			v.bad(fmt.Sprintf("%q is not the name of %s", name, what), suggest(name, known))
		}
		names = append(names, name)
	}
	return names
}

func globs(n node) []string {
	var out []string
	for _, v := range n.listed() {
		if glob := v.glob(); glob != "" {
			out = append(out, glob)
		}
	}
	return out
}

func words(n node, known ...string) []string {
	var out []string
	for _, v := range n.listed() {
		if w := v.word("", known...); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// listed is oneOrMany for keys that narrow: an empty list would narrow nothing.
func (n node) listed() []node {
	if n.isEmptyList() {
		n.bad("is empty", "write a value, or leave the key out")
	}
	return n.oneOrMany()
}

func (r *reader) accountNames() []string {
	var names []string
	for _, a := range r.cfg.Accounts {
		if a.Name != "" {
			names = append(names, a.Name)
		}
	}
	return names
}
