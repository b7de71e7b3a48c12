package main

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"curfew/internal/text"
)

// words are the areas whose codes never leave the program: they are parts of its
// tables and messages, not reasons.
func words() []string { return []string{"cli", "notify"} }

func reasonsPage(all []text.Text) (string, error) {
	var b strings.Builder
	b.WriteString(generated + `# Reasons

Every answer of curfew carries a reason: a code, which ` + "`--json`" + ` and the journal
keep for ever, and values, from which the text is made in the reader's language.
‹name› stands for a value; what stands in [brackets] is said only where it is
known.

`)
	area := ""
	for _, t := range all {
		of, _, _ := strings.Cut(string(t.Code), ".")
		if slices.Contains(words(), of) {
			continue
		}
		if of != area {
			if area != "" {
				b.WriteByte('\n')
			}
			area = of
			fmt.Fprintf(&b, "## %s\n\n", area)
			b.WriteString("| code | English | 中文 |\n| --- | --- | --- |\n")
		}
		english, err := readable(t.English)
		if err != nil {
			return "", fmt.Errorf("reason %s: %w", t.Code, err)
		}
		chinese, err := readable(t.Chinese)
		if err != nil {
			return "", fmt.Errorf("reason %s: %w", t.Code, err)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Code, cell(english), cell(chinese))
	}
	return b.String(), nil
}

// readable writes a template as people read it: a value as ‹name›, what is said
// only under a condition in brackets.
func readable(source string) (string, error) {
	trees, err := parse.Parse("text", source, "", "")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, tree := range trees {
		if err := write(&b, tree.Root); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func write(b *strings.Builder, n parse.Node) error {
	switch n := n.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			if err := write(b, child); err != nil {
				return err
			}
		}
		return nil
	case *parse.TextNode:
		b.Write(n.Text)
		return nil
	case *parse.ActionNode:
		b.WriteString("‹" + strings.TrimPrefix(n.Pipe.String(), ".") + "›")
		return nil
	case *parse.IfNode:
		b.WriteString("[")
		if err := write(b, n.List); err != nil {
			return err
		}
		if n.ElseList != nil {
			b.WriteString(" | ")
			if err := write(b, n.ElseList); err != nil {
				return err
			}
		}
		b.WriteString("]")
		return nil
	}
	return fmt.Errorf("no way to show %s", n)
}
