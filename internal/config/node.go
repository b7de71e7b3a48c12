package config

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// node is one value of the file: what stands there, where, and by which path it
// is reached. A value that is not there, or was reported already, holds nothing;
// every reading method answers it with the default given, so that decoding reads
// as a list of keys.
type node struct {
	r    *reader
	ast  ast.Node // nil: nothing to read
	pos  Pos
	path string

	asked *asked // notes what is asked; nil: nobody wants to know
}

// at makes a node of a value. What strict reading has no use for is reported
// here, once.
func (r *reader) at(value ast.Node, pos Pos, path string) node {
	n := node{r: r, ast: value, pos: pos, path: path}
	switch value.(type) {
	case nil:
	case *ast.NullNode:
		n.bad("has no value", "write one, or leave the key out")
		n.ast = nil
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		n.bad("uses an anchor, an alias or a tag", "write the value itself")
		n.ast = nil
	}
	return n
}

// given reports whether there is a value to read.
func (n node) given() bool { return n.ast != nil }

// bad reports that the value is wrong.
func (n node) bad(what, right string) { n.r.report(n.pos, n.path, what, right) }

// sort of value, in words for people.
func (n node) sort() string {
	switch n.ast.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a block of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "a truth value"
	}
	return "text"
}

// source gives a scalar as it is written, without quotes, and whether the value
// is a scalar at all.
func (n node) source() (string, bool) {
	n.asked.peek()
	switch v := n.ast.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(v.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	}
	return "", false
}

// list gives the values of a list.
func (n node) list() []node {
	n.asked.list()
	if !n.given() {
		return nil
	}
	seq, ok := n.ast.(*ast.SequenceNode)
	if !ok {
		n.bad("is "+n.sort()+", not a list", "write [one, two], or a line with - for each")
		return nil
	}
	var values []node
	for i, v := range seq.Values {
		value := n.r.at(v, posOf(v, n.pos), fmt.Sprintf("%s[%d]", n.path, i))
		value.asked = n.asked.item(i)
		values = append(values, value)
	}
	return values
}

// oneOrMany gives the values of a list, or the single value as a list of one.
func (n node) oneOrMany() []node {
	if _, ok := n.source(); ok {
		return []node{n}
	}
	return n.list()
}

// isEmptyList reports whether the value is a list that holds nothing.
func (n node) isEmptyList() bool {
	n.asked.mayNotBeEmpty()
	seq, ok := n.ast.(*ast.SequenceNode)
	return ok && len(seq.Values) == 0
}

// mapping is a block of keys that remembers which were asked for, so that the
// others can be reported.
type mapping struct {
	node
	keys  []string // as written, in order
	pairs map[string]pair
	known []string // asked for
	later []string // of a later version
	free  bool     // its keys are not known, since what it is about is not
}

type pair struct {
	key   Pos
	value ast.Node
}

// mapping reads a block of keys. It is never nil: what is not a block is
// reported and has no keys.
func (n node) mapping() *mapping {
	m := &mapping{node: n, pairs: map[string]pair{}}
	defer func() { n.asked.block(m.given()) }()
	var pairs []*ast.MappingValueNode
	switch v := n.ast.(type) {
	case nil:
	case *ast.MappingNode:
		pairs = v.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{v}
	default:
		n.bad("is "+n.sort()+", not a block of keys", "write {key: value}, or a line with key: value for each")
		m.ast = nil
	}
	for _, p := range pairs {
		pos := posOf(p.Key, n.pos)
		var key string
		switch p.Key.(type) {
		case *ast.MergeKeyNode, *ast.MappingKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.NullNode:
			n.r.report(pos, n.path, "has a key that is not a plain word", "write key: value")
			continue
		default:
			key = p.Key.GetToken().Value
		}
		if first, twice := m.pairs[key]; twice {
			n.r.report(pos, m.pathOf(key), fmt.Sprintf("is given a second time (first in line %d)", first.key.Line), "keep one of the two")
			continue
		}
		m.keys = append(m.keys, key)
		m.pairs[key] = pair{key: pos, value: p.Value}
	}
	return m
}

// take gives the value of a key and remembers that the key is known.
func (m *mapping) take(key string) node {
	m.known = append(m.known, key)
	value := node{r: m.r, pos: m.pos, path: m.pathOf(key)}
	if p, ok := m.pairs[key]; ok {
		value = m.r.at(p.value, posOf(p.value, p.key), m.pathOf(key))
	}
	value.asked = m.asked.key(key)
	return value
}

// need is take for a key that must be there; right says what to write.
func (m *mapping) need(key, right string) node {
	if m.given() {
		m.asked.need(key)
		if _, ok := m.pairs[key]; !ok {
			m.bad(key+" is missing", right)
		}
	}
	return m.take(key)
}

// all gives every pair, for blocks whose keys are free.
func (m *mapping) all() map[string]node {
	values := make(map[string]node, len(m.keys))
	for _, key := range m.keys {
		values[key] = m.take(key)
	}
	return values
}

// notYet names keys that a later version will know.
func (m *mapping) notYet(keys ...string) { m.later = append(m.later, keys...) }

// done reports every key that nobody asked for.
func (m *mapping) done() {
	for _, key := range m.keys {
		at := m.pairs[key].key
		switch {
		case m.free || contains(m.known, key):
		case contains(m.later, key):
			m.r.report(at, m.pathOf(key), "is not in this version", "leave it out")
		default:
			m.r.report(at, m.pathOf(key), "is not a known key here", suggest(key, m.known))
		}
	}
}

func (m *mapping) pathOf(key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(c rune) bool {
		return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	switch {
	case !plain:
		return fmt.Sprintf("%s[%q]", m.path, key)
	case m.path == "":
		return key
	}
	return m.path + "." + key
}

// posOf is where a value begins, or the given place where that is not told.
func posOf(n ast.Node, or Pos) Pos {
	switch v := n.(type) {
	case nil:
		return or
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return posOf(v.Values[0].Key, or)
		}
	case *ast.MappingValueNode:
		return posOf(v.Key, or)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return Pos{Line: t.Position.Line, Col: t.Position.Column}
	}
	return or
}
