package probe

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/template/parse"

	"curfew/fleet"
)

// Question is a URL or a command into which is put what is known of an instance.
type Question struct {
	parts []part
	// join makes the whole of the parts and of the values that stand in for those
	// that name one.
	join func(parts []part, values []string) string
}

// part is a piece of a question: text as it stands, or the name of a value.
type part struct {
	text  string
	field string // ID, Name, Account, Region, Boot or Labels; empty: text
	label string // of Labels
	// inQuotes says that it stands inside the double quotes of a command.
	inQuotes bool
}

// field is a value that a question can name.
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
		"Boot":    {func(i fleet.Instance, _ string) string { return string(i.Boot) }, ""},
		"Labels":  {func(i fleet.Instance, label string) string { return i.Labels[label] }, "labels"},
	}
}

// ParseURL reads a URL in which {{.Name}} and the like stand for what is known of an
// instance, after the host: a name must not decide who is sent the headers. An error
// says what is wrong and, after a semicolon, what would be right; it never holds the
// URL.
func ParseURL(text string) (*Question, error) {
	parts, err := split(text)
	if err != nil {
		return nil, err
	}
	const right = "write http://HOST or https://HOST, and a path"
	whole := joinURL(parts, slices.Repeat([]string{"x"}, len(parts)))
	u, err := url.Parse(whole)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("is not the address of a service; " + right)
	case u.User != nil:
		return nil, errors.New("holds a password; write header: {Authorization: {env: NAME}}")
	case u.Fragment != "" || strings.Contains(whole, "#"):
		return nil, errors.New("has a # in it, and what comes after is never sent; leave it out")
	}
	if n := slices.IndexFunc(parts, part.named); n >= 0 {
		_, begin, _ := strings.Cut(joinURL(parts[:n], make([]string, n)), "://")
		if !strings.ContainsAny(begin, "/?") {
			return nil, fmt.Errorf("%s is part of the host, and a name must not decide who is asked; write a command, or a probe for each host", parts[n])
		}
	}
	return &Question{parts, joinURL}, nil
}

// ParseCommand reads a command for a POSIX shell in which {{.Name}} and the like
// stand for what is known of an instance. The shell takes each as one word, whatever
// is in it. Errors are as those of [ParseURL].
func ParseCommand(text string) (*Question, error) {
	parts, err := split(text)
	if err != nil {
		return nil, err
	}
	var q quoting
	for n, p := range parts {
		if !p.named() {
			q.read(p.text)
			continue
		}
		switch {
		case q.top() == '\'':
			return nil, fmt.Errorf("%s stands inside single quotes, into which the shell puts nothing; write it without quotes, it is one word whatever is in it", p)
		case q.escaped:
			return nil, fmt.Errorf("%s stands after a backslash; write it without", p)
		}
		parts[n].inQuotes = q.top() == '"'
		q.last = 'x' // a word, whatever it is
	}
	return &Question{parts, joinCommand}, nil
}

// About puts in what is known of an instance, or says what is not.
func (q *Question) About(i fleet.Instance) (string, fleet.Reason) {
	values := make([]string, len(q.parts))
	known := fields()
	for n, p := range q.parts {
		if !p.named() {
			continue
		}
		f := known[p.field]
		what := fleet.Values{"what": fleet.Text(p.path())}
		if slices.Contains(i.Unread, f.unread) {
			return "", fleet.Because(ReasonUnread, what)
		}
		// One that is empty would ask about another thing, or about all.
		if values[n] = f.of(i, p.label); values[n] == "" {
			return "", fleet.Because(ReasonMissing, what)
		}
	}
	return q.join(q.parts, values), fleet.Reason{}
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

// joinURL escapes values so that each stays within its part of a path or query.
func joinURL(parts []part, values []string) string {
	var b strings.Builder
	for n, p := range parts {
		b.WriteString(p.text)
		if p.named() {
			b.WriteString(strings.ReplaceAll(url.QueryEscape(values[n]), "+", "%20"))
		}
	}
	return b.String()
}

// joinCommand puts values into variables before the command, so that none of them
// is ever read as shell, wherever it stands.
func joinCommand(parts []part, values []string) string {
	var variables, b strings.Builder
	for n, p := range parts {
		b.WriteString(p.text)
		if !p.named() {
			continue
		}
		name := fmt.Sprintf("curfew_%d", n)
		fmt.Fprintf(&variables, "%s='%s'; ", name, strings.ReplaceAll(values[n], "'", `'\''`))
		if p.inQuotes {
			b.WriteString("${" + name + "}")
		} else {
			b.WriteString(`"${` + name + `}"`)
		}
	}
	return variables.String() + b.String()
}

// split takes a text apart at what stands in double braces.
func split(text string) ([]part, error) {
	trees, err := parse.Parse("probe", text, "", "", map[string]any{"index": true})
	if err != nil {
		// The message names the text and repeats of it what stands in the braces.
		why := strings.TrimPrefix(err.Error(), "template: probe:")
		return nil, fmt.Errorf("what stands in braces cannot be read (line %s); write {{.ID}}, or {{\"{{\"}} for braces that are meant as such", why)
	}
	var parts []part
	if trees["probe"] == nil {
		return parts, nil
	}
	for _, n := range trees["probe"].Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			parts = append(parts, part{text: string(n.Text)})
		case *parse.CommentNode:
		case *parse.ActionNode:
			p, err := action(n)
			if err != nil {
				return nil, err
			}
			parts = append(parts, p)
		default:
			return nil, fmt.Errorf("%s is more than a name; write {{.ID}}, {{.Name}} or the like", n)
		}
	}
	return parts, nil
}

// action reads what stands in one pair of braces: {{.Name}}, {{.Labels.team}},
// {{index .Labels "my-team"}}, or text in quotes.
func action(n *parse.ActionNode) (part, error) {
	refused := fmt.Errorf("%s is more than a name; write {{.ID}}, {{.Name}} or the like", n)
	if len(n.Pipe.Decl) > 0 || len(n.Pipe.Cmds) != 1 {
		return part{}, refused
	}
	args := n.Pipe.Cmds[0].Args
	switch first := args[0].(type) {
	case *parse.StringNode:
		if len(args) == 1 {
			return part{text: first.Text}, nil
		}
	case *parse.FieldNode:
		if len(args) == 1 {
			return named(first.Ident)
		}
	case *parse.IdentifierNode:
		if first.Ident != "index" || len(args) != 3 {
			break
		}
		field, ok := args[1].(*parse.FieldNode)
		key, isText := args[2].(*parse.StringNode)
		if ok && isText {
			return named(append(slices.Clone(field.Ident), key.Text))
		}
	}
	return part{}, refused
}

// named makes a part of the name of a value.
func named(path []string) (part, error) {
	known := []string{"{{.ID}}", "{{.Name}}", "{{.Account}}", "{{.Region}}", "{{.Boot}}", "{{.Labels.KEY}}"}
	_, ok := fields()[path[0]]
	switch {
	case ok && path[0] == "Labels" && len(path) == 2 && path[1] != "":
		return part{field: path[0], label: path[1]}, nil
	case ok && path[0] != "Labels" && len(path) == 1:
		return part{field: path[0]}, nil
	}
	return part{}, fmt.Errorf("{{.%s}} is not known of an instance; known are %s", strings.Join(path, "."), strings.Join(known, ", "))
}
