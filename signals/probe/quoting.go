package probe

import "strings"

// quoting follows which quotes of a shell are open while a command is read. It knows
// as much as is needed to tell how a value is put in; that no value is read as shell
// does not rest on it.
type quoting struct {
	open []byte // ' " ( ` and # for a comment
	// escaped says that the last thing read was a backslash.
	escaped bool
	last    byte
}

// top is what was opened last and is open still; zero: nothing.
func (q *quoting) top() byte {
	if len(q.open) == 0 {
		return 0
	}
	return q.open[len(q.open)-1]
}

func (q *quoting) push(c byte) { q.open = append(q.open, c) }

func (q *quoting) pop() { q.open = q.open[:len(q.open)-1] }

func (q *quoting) read(text string) {
	for n := range len(text) {
		c := text[n]
		switch top := q.top(); {
		case q.escaped:
			q.escaped = false
		case top == '\'' || top == '#':
			if top == '\'' && c == '\'' || top == '#' && c == '\n' {
				q.pop()
			}
		case c == '\\':
			q.escaped = true
		case c == '"' && top == '"', c == '`' && top == '`', c == ')' && top == '(':
			q.pop()
		case c == '"', c == '`':
			q.push(c)
		case c == '(' && (top != '"' || q.last == '$'):
			q.push(c)
		case c == '\'' && top != '"':
			q.push(c)
		case c == '#' && top != '"' && (q.last == 0 || strings.IndexByte(" \t\n;&|(", q.last) >= 0):
			q.push(c)
		}
		q.last = c
	}
}
