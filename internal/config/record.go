package config

import (
	"slices"
	"strings"
)

// asked is what the reader has asked of one value. The schema is made of it: the
// real reading runs over files made up for the purpose, and what it asks for is
// noted here, so that no key stands in a second list. Nil notes nothing, which is
// how every real file is read.
type asked struct {
	forms   []form          // as which single values it was read
	absent  map[string]bool // what held where nothing was written
	peeked  bool            // whether it is a single value was looked at
	isList  bool
	full    bool // a list that holds nothing is refused
	items   []*asked
	isBlock bool
	blocks  int // how often a block was there to read
	keys    map[string]*askedKey
	any     *asked // the value of a key that the user makes up
	oneOf   []string
}

// askedKey is a key of a block, and how often it had to be there.
type askedKey struct {
	value  *asked
	needed int
}

// scalarKind is what a single value is read as.
type scalarKind string

const (
	kindAny     scalarKind = "any" // whatever is a single value
	kindText    scalarKind = "text"
	kindWord    scalarKind = "word"
	kindChoice  scalarKind = "choice" // a word that decides which other keys there are
	kindFlag    scalarKind = "flag"
	kindWhole   scalarKind = "whole"
	kindPercent scalarKind = "percent"
	kindShare   scalarKind = "share"
	kindFigure  scalarKind = "figure"
	kindNumber  scalarKind = "number" // of 0 or more
	kindDate    scalarKind = "date"
	kindSpan    scalarKind = "span"
	kindMoney   scalarKind = "money"
	kindPattern scalarKind = "pattern"
	kindInside  scalarKind = "inside-path"
	kindURL     scalarKind = "url"
	kindName    scalarKind = "name"
	kindListen  scalarKind = "listen"
	kindSecret  scalarKind = "secret"
	kindSize    scalarKind = "size"  // of data
	kindClock   scalarKind = "clock" // a time of day
	kindSpeed   scalarKind = "speed" // of data
	kindProxy   scalarKind = "proxy"
)

// form is one way to write a single value.
type form struct {
	kind  scalarKind
	words string // of a word: the known ones, a line each
	least int    // of a whole number
	off   bool   // off may be written instead
	def   string // what holds where nothing is written, as it would be written
}

func oneOf(k scalarKind, def string, known []string) form {
	return form{kind: k, words: strings.Join(known, "\n"), def: def}
}

func (f form) known() []string { return strings.Split(f.words, "\n") }

// as notes what the value is read as. The node it gives notes nothing more, so
// that of readings made of others the outermost counts.
func (n node) as(f form) node {
	if n.asked == nil {
		return n
	}
	if !n.given() {
		if n.asked.absent == nil {
			n.asked.absent = map[string]bool{}
		}
		n.asked.absent[f.def] = true
	}
	f.def = ""
	if !slices.Contains(n.asked.forms, f) {
		n.asked.forms = append(n.asked.forms, f)
	}
	n.asked = nil
	return n
}

func (a *asked) peek() {
	if a != nil {
		a.peeked = true
	}
}

func (a *asked) list() {
	if a != nil {
		a.isList = true
	}
}

func (a *asked) mayNotBeEmpty() {
	if a != nil {
		a.full = true
	}
}

// item is what is asked of a list's value.
func (a *asked) item(n int) *asked {
	if a == nil {
		return nil
	}
	for len(a.items) <= n {
		a.items = append(a.items, &asked{})
	}
	return a.items[n]
}

func (a *asked) block(there bool) {
	if a == nil {
		return
	}
	a.isBlock = true
	if there {
		a.blocks++
	}
}

// key is what is asked of a key's value.
func (a *asked) key(key string) *asked {
	switch {
	case a == nil:
		return nil
	case key == anyKey:
		if a.any == nil {
			a.any = &asked{}
		}
		return a.any
	case a.keys == nil:
		a.keys = map[string]*askedKey{}
	}
	if a.keys[key] == nil {
		a.keys[key] = &askedKey{value: &asked{}}
	}
	return a.keys[key].value
}

// need notes that a key had to be there.
func (a *asked) need(key string) {
	if a != nil {
		a.key(key)
		a.keys[key].needed++
	}
}

// needOneOf notes that one of some keys had to be there.
func (a *asked) needOneOf(keys []string) {
	if a != nil {
		a.oneOf = keys
	}
}

// unread reports a value nobody read: there is a key, and it is refused, or its
// reading waits for there being one.
func (a *asked) unread() bool {
	return len(a.forms) == 0 && !a.isList && !a.isBlock && !a.peeked
}

// usual is what holds where nothing is written, if that is always the same.
func (a *asked) usual() string {
	if len(a.absent) == 1 {
		for def := range a.absent {
			return def
		}
	}
	return ""
}

// choice gives the key of a block that decides which others it has.
func (a *asked) choice() (key string, words []string) {
	for k, v := range a.keys {
		for _, f := range v.value.forms {
			if f.kind == kindChoice {
				return k, f.known()
			}
		}
	}
	return "", nil
}
