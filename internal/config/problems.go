package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in the configuration file, counted from 1.
type Pos struct {
	Line int `json:"line"`
	Col  int `json:"col"`
}

// Problem is one thing wrong in the configuration. It never holds a secret.
type Problem struct {
	File string `json:"file"`
	Pos
	Path  string `json:"path,omitempty"` // such as policies[2].grace
	What  string `json:"what"`           // what is wrong
	Right string `json:"right"`          // what would be right
}

// String gives file:line:col: path: what is wrong; what would be right.
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Col)
	if p.Path != "" {
		s += p.Path + ": "
	}
	return s + p.What + "; " + p.Right
}

// Problems is every problem of one file, in the order of the file. It is the
// error that [Parse] gives.
type Problems []Problem

// Error gives one problem a line.
func (ps *Problems) Error() string {
	lines := make([]string, len(*ps))
	for n, p := range *ps {
		lines[n] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) sort() {
	slices.SortStableFunc(*ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Path, b.Path))
	})
}

// halves gives what an error says is wrong and what it says would be right, or
// the given advice where it gives none.
func halves(err error, advice string) (what, right string) {
	what, right, ok := strings.Cut(err.Error(), "; ")
	if !ok {
		right = advice
	}
	return what, right
}

// suggest says what would have been right instead of a word: the nearest known
// one, or all of them.
func suggest(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	switch len(known) {
	case 0:
		return "leave it out"
	case 1:
		return "write " + known[0]
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(known)))
	return "known are " + strings.Join(sorted, ", ")
}

// nearest gives the known word of which the given one is a misspelling, with one
// slip for every three letters, or "".
func nearest(word string, known []string) string {
	best, least := "", len([]rune(word))/3+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := slips(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// slips counts the letters to insert, drop, change or swap with their neighbour
// to make b of a.
func slips(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last := []int(nil), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := last[j-1]
			if x[i-1] != y[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}
