package main

import (
	"fmt"
	"strings"
	"time"
)

// generated stands at the top of every page; Markdown does not show it.
const generated = "<!-- Written by make generate from the program itself; change it there. -->\n\n"

// table writes rows as a Markdown table; the first is its head.
func table(b *strings.Builder, rows [][]string) {
	for n, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if n == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
}

// cell makes text fit into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", "<br>", "<", "&lt;", "*", `\*`).Replace(s)
}

// codes writes words as code, separated by commas; none is a dash.
func codes[S ~string](words []S) string {
	if len(words) == 0 {
		return "–"
	}
	parts := make([]string, len(words))
	for n, w := range words {
		parts[n] = "`" + string(w) + "`"
	}
	return strings.Join(parts, ", ")
}

// span writes a length of time; none is a dash.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return "–"
	case d == day:
		return "1 day"
	case d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}
