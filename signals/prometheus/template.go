package prometheus

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// split takes a text apart at what stands in double braces.
func split(text string) ([]part, error) {
	trees, err := parse.Parse("query", text, "", "", map[string]any{"index": true})
	if err != nil {
		// The message names the text and repeats of it what stands in the braces.
		why := strings.TrimPrefix(err.Error(), "template: query:")
		return nil, fmt.Errorf("what stands in braces cannot be read (line %s); write {{.ID}}, or {{\"{{\"}} for braces that are meant as such", why)
	}
	var parts []part
	if trees["query"] == nil {
		return parts, nil
	}
	for _, n := range trees["query"].Root.Nodes {
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
	known := []string{"{{.ID}}", "{{.Name}}", "{{.Account}}", "{{.Region}}", "{{.Labels.KEY}}"}
	_, ok := fields()[path[0]]
	switch {
	case ok && path[0] == "Labels" && len(path) == 2 && path[1] != "":
		return part{field: path[0], label: path[1]}, nil
	case ok && path[0] != "Labels" && len(path) == 1:
		return part{field: path[0]}, nil
	}
	return part{}, fmt.Errorf("{{.%s}} is not known of an instance; known are %s", strings.Join(path, "."), strings.Join(known, ", "))
}
