package config

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
)

// anyKey stands in made-up files for a key that the user makes up: whoever reads
// it reads every key.
const anyKey = "any-name"

// survey finds out what the reader asks for, by reading files made of what it has
// asked for so far, in every way a value can be written, until it asks for nothing
// new.
func survey(reg Registry) *asked {
	root := &asked{isBlock: true}
	for before := -1; ; {
		root.count() // what must be there is told by the last round, which knows all
		turns := 0
		for turn := 0; turn <= turns; turn++ {
			for _, w := range ways() {
				w.turn = turn
				root.readAs(w, reg)
			}
			turns = max(turns, root.longest()-1)
		}
		size := root.size()
		if size == before {
			return root
		}
		before = size
	}
}

// readAs lets the reader read one made-up file. What it makes of it, and what it
// finds wrong, is not wanted.
func (a *asked) readAs(w way, reg Registry) {
	text, err := json.Marshal(w.value("", a))
	if err != nil {
		return // strings and numbers only
	}
	r := &reader{file: "survey", reg: reg, cfg: &Config{}}
	if n, ok := r.parse(text); ok { // JSON is YAML
		n.asked = a
		r.config(n)
	}
}

// way is how a made-up file is written.
type way struct {
	order  []shape // the first that fits
	unread shape   // of what nobody has read yet
	bare   bool    // leaves out what is a single value
	turn   int     // which of the words
	// alone writes of each block what must be there and one key that nobody has read
	// yet: there may be only one of some.
	alone bool
}

type shape int

const (
	single shape = iota
	block
	list
)

func ways() []way {
	return []way{
		{order: []shape{block, list, single}, bare: true},
		{order: []shape{block, list, single}},
		{order: []shape{list, block, single}},
		{order: []shape{block, single, list}, unread: block},
		{order: []shape{single, block, list}, unread: list},
		{order: []shape{block, list, single}, alone: true},
		{order: []shape{block, list, single}, alone: true, unread: block},
		{order: []shape{block, list, single}, alone: true, unread: list},
	}
}

// value makes up what stands at a key.
func (w way) value(key string, a *asked) any {
	if a.unread() {
		return w.guess()
	}
	fits := map[shape]bool{single: len(a.forms) > 0 || a.peeked, block: a.isBlock, list: a.isList}
	for _, s := range w.order {
		switch {
		case !fits[s]:
		case s == block:
			return w.block(a)
		case s == list:
			return w.list(a)
		case w.bare:
			return nil
		default:
			return w.single(key, a)
		}
	}
	return nil
}

// guess makes up what stands where nothing was read yet.
func (w way) guess() any {
	switch {
	case w.unread == block:
		return map[string]any{}
	case w.unread == list:
		return []any{"x"}
	case w.bare:
		return nil
	}
	return "x"
}

func (w way) block(a *asked) map[string]any {
	out := map[string]any{}
	unread := a.unreadKeys()
	for key, k := range a.keys {
		if w.alone && len(unread) > 0 && k.needed == 0 && key != unread[w.turn%len(unread)] {
			continue
		}
		if v := w.value(key, k.value); v != nil {
			out[key] = v
		}
	}
	if !w.bare {
		out[anyKey] = "x"
		if a.any != nil {
			out[anyKey] = w.value(anyKey, a.any)
		}
	}
	return out
}

// list makes a list: a value, or one for each way that its blocks can be.
func (w way) list(a *asked) []any {
	key, words := a.item(0).choice()
	if key == "" {
		words = []string{""}
	}
	out := []any{}
	for n, word := range words {
		v := w.value("", a.item(n))
		if v == nil {
			v = map[string]any{}
		}
		if of, ok := v.(map[string]any); ok && key != "" {
			of[key] = word
		}
		out = append(out, v)
	}
	return out
}

// single makes up a single value, one that is right wherever that matters to what
// is read next.
func (w way) single(key string, a *asked) any {
	if told := samples()[key]; len(told) > 0 {
		return told[w.turn%len(told)]
	}
	f := form{kind: kindText}
	if len(a.forms) > 0 {
		f = a.forms[0]
	}
	switch f.kind {
	case kindWord, kindChoice:
		return f.known()[w.turn%len(f.known())]
	case kindFlag:
		return true
	case kindWhole:
		return f.least
	case kindPercent, kindShare:
		return "40%"
	case kindFigure, kindNumber:
		return 0.25
	case kindDate:
		return "2026-10-01"
	case kindSpan:
		return "70m"
	case kindMoney:
		return "1.98 CNY"
	case kindInside:
		return "/root/out"
	case kindURL:
		return "https://curfew.lab.example"
	case kindListen:
		return "127.0.0.1:8421"
	case kindSize:
		return "50GB"
	case kindSpeed:
		return "500MB/s"
	case kindProxy:
		return "direct"
	case kindClock:
		return "23:00"
	}
	return "x" + strconv.Itoa(w.turn)
}

// samples are texts on which other keys depend.
func samples() map[string][]string {
	return map[string][]string{
		"host":     {"local", "gpu1.lab.example"},
		"schedule": {"0 2 * * *", "@every 1h"},
		"timezone": {"UTC"},
		"state":    {"sqlite:curfew.db"},
		"expr":     {"true"},
	}
}

// count begins anew to count what had to be there.
func (a *asked) count() {
	a.blocks = 0
	for _, k := range a.keys {
		k.needed = 0
	}
	for child := range a.children() {
		child.count()
	}
}

// size counts what was asked.
func (a *asked) size() int {
	n := 1 + len(a.forms)
	for _, is := range []bool{a.peeked, a.isList, a.full, a.isBlock, a.any != nil} {
		if is {
			n++
		}
	}
	for child := range a.children() {
		n += child.size()
	}
	return n
}

// longest is how many turns it takes to write every word, and every key that
// nobody has read yet by itself.
func (a *asked) longest() int {
	n := max(2, len(a.unreadKeys())) // two samples at most
	for _, f := range a.forms {
		if f.kind == kindWord {
			n = max(n, len(f.known()))
		}
	}
	for child := range a.children() {
		n = max(n, child.longest())
	}
	return n
}

// unreadKeys lists the keys whose value nobody has read.
func (a *asked) unreadKeys() []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(a.keys)) {
		if a.keys[key].value.unread() {
			keys = append(keys, key)
		}
	}
	return keys
}

// children gives what was asked of the values inside.
func (a *asked) children() iter.Seq[*asked] {
	return func(yield func(*asked) bool) {
		for _, k := range a.keys {
			if !yield(k.value) {
				return
			}
		}
		for _, item := range a.items {
			if !yield(item) {
				return
			}
		}
		if a.any != nil {
			yield(a.any)
		}
	}
}
