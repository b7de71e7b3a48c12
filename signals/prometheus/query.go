package prometheus

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"curfew/fleet"
)

// Query is a query in PromQL into which may be put what is known of an instance.
type Query struct{ parts []part }

// part is a piece of a query: text as it stands, or the name of a value.
type part struct {
	text  string
	field string // ID, Name, Account, Region or Labels; empty: text
	label string // of Labels
	// isRegexp says that it stands in a regular expression.
	isRegexp bool
}

// field is a value that a query can name.
type field struct {
	of     func(i fleet.Instance, label string) string
	unread string // how Instance.Unread calls it; empty where it is always known
}

func fields() map[string]field {
	return map[string]field{
		"ID":      {func(i fleet.Instance, _ string) string { return i.Ref.ID }, ""},
		"Name":    {func(i fleet.Instance, _ string) string { return i.Name }, "name"},
		"Account": {func(i fleet.Instance, _ string) string { return i.AccountName }, ""},
		"Region":  {func(i fleet.Instance, _ string) string { return i.Region }, "region"},
		"Labels":  {func(i fleet.Instance, label string) string { return i.Labels[label] }, "labels"},
	}
}

// ParseQuery reads a query in which {{.Name}} and the like stand for what is known
// of an instance: in double quotes after =, !=, =~ or !~ between braces, and nowhere
// else, so that whatever is in a value is compared and never read as PromQL or as a
// regular expression. An error says what is wrong and, after a semicolon, what would
// be right.
func ParseQuery(text string) (*Query, error) {
	parts, err := split(text)
	if err != nil {
		return nil, err
	}
	var r reading
	for n, p := range parts {
		if p.named() {
			parts[n].isRegexp, err = r.value(p)
		} else {
			err = r.text(p.text)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.quote != 0 {
		return nil, errors.New("has a quote that is left open; close it")
	}
	return &Query{parts}, nil
}

// Names reports whether the query names the instance it is asked about.
func (q *Query) Names() bool { return slices.ContainsFunc(q.parts, part.named) }

// text gives a query that names nothing.
func (q *Query) text() string {
	var b strings.Builder
	for _, p := range q.parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// about puts in what is known of an instance, or says what is not.
func (q *Query) about(i fleet.Instance) (string, fleet.Reason) {
	known := fields()
	var b strings.Builder
	for _, p := range q.parts {
		if !p.named() {
			b.WriteString(p.text)
			continue
		}
		f := known[p.field]
		what := fleet.Values{"what": fleet.Text(p.path())}
		if slices.Contains(i.Unread, f.unread) {
			return "", fleet.Because(ReasonUnread, what)
		}
		value := f.of(i, p.label)
		if value == "" { // would be about whatever has no such label
			return "", fleet.Because(ReasonMissing, what)
		}
		if p.isRegexp {
			value = "(?:" + regexp.QuoteMeta(value) + ")"
		}
		quoted := strconv.Quote(value) // PromQL reads the same escapes
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String(), fleet.Reason{}
}

func (p part) named() bool { return p.field != "" }

// path names the value, as in Labels.team.
func (p part) path() string {
	if p.field == "Labels" {
		return p.field + "." + p.label
	}
	return p.field
}

// String gives the part as it was written.
func (p part) String() string {
	if p.named() {
		return "{{." + p.path() + "}}"
	}
	return p.text
}

// reading follows the quotes, braces and comments of a query, and checks the text in
// quotes into which a value is put.
type reading struct {
	quote    byte // that is open; zero: none
	escaped  bool // the last sign in quotes was a backslash
	comment  bool
	braces   int
	last     byte // the last sign that is neither blank, quoted nor in a comment
	operator byte // that the open quotes follow: = or, for a regular expression, ~; zero: none
	// inside is what stands in the open quotes, with a group for each value, and
	// groups are what these are called.
	inside strings.Builder
	groups []string
}

// value takes a value into the query, and tells whether it is part of a regular
// expression.
func (r *reading) value(p part) (isRegexp bool, err error) {
	const right = `write it as in {hostname="{{.Name}}"}`
	switch {
	case r.comment:
		return false, fmt.Errorf("%s stands in a comment; %s", p, right)
	case r.quote == 0:
		return false, fmt.Errorf("%s stands outside quotes, where a name would be read as PromQL; %s", p, right)
	case r.quote != '"':
		return false, fmt.Errorf("%s stands in quotes other than double ones; %s", p, right)
	case r.operator == 0:
		return false, fmt.Errorf("%s stands elsewhere than after =, !=, =~ or !~ between braces; %s", p, right)
	case r.escaped:
		return false, fmt.Errorf("%s stands after a backslash; write it without", p)
	}
	group := fmt.Sprintf("curfew%d", len(r.groups))
	r.groups = append(r.groups, group)
	r.inside.WriteString("(?P<" + group + ">x)")
	return r.operator == '~', nil
}

// text reads a piece of the query as it stands.
func (r *reading) text(text string) error {
	for n := range len(text) {
		c := text[n]
		switch {
		case r.comment:
			r.comment = c != '\n' && c != '\r'
			continue
		case r.quote != 0:
			if err := r.quoted(c); err != nil {
				return err
			}
			continue
		}
		switch c {
		case '#':
			r.comment = true
			continue
		case '"', '\'', '`':
			r.quote, r.operator = c, 0
			if r.braces > 0 && (r.last == '=' || r.last == '~') {
				r.operator = r.last
			}
			r.inside.Reset()
			r.groups = nil
		case '{':
			r.braces++
		case '}':
			r.braces--
		case ' ', '\t', '\n', '\r':
			continue
		}
		r.last = c
	}
	return nil
}

// quoted reads a sign inside quotes.
func (r *reading) quoted(c byte) error {
	switch {
	case r.escaped:
		r.escaped = false
	case c == '\\' && r.quote != '`':
		r.escaped = true
	case c == r.quote:
		r.quote = 0
		return r.check()
	}
	r.inside.WriteByte(c)
	return nil
}

// check looks at quotes that were closed, if a value is in them: the value must be
// a thing by itself of a regular expression, not one end of a range.
func (r *reading) check() error {
	if len(r.groups) == 0 {
		return nil
	}
	text, err := strconv.Unquote(`"` + r.inside.String() + `"`)
	if err != nil {
		return errors.New(`has quotes that cannot be read, for a backslash or a line's end in them; write \\ for a backslash that is meant as such`)
	}
	if r.operator != '~' {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return fmt.Errorf("has a regular expression that cannot be read (%s); mend it", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	for _, group := range r.groups {
		if !slices.Contains(re.SubexpNames(), group) {
			return errors.New(`has a value within [ ] or \Q of a regular expression; write it outside`)
		}
	}
	return nil
}
