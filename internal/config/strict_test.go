package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"pgregory.net/rapid"
)

// keyPlace is where a key stands in a file.
type keyPlace struct {
	key    string
	offset int // in bytes
	col    int
	flow   bool
}

type keyFinder struct {
	lines  []int // offsets at which lines begin
	places *[]keyPlace
	flow   bool
}

// Visit collects the keys of every block.
func (f keyFinder) Visit(n ast.Node) ast.Visitor {
	switch v := n.(type) {
	case *ast.MappingNode:
		f.flow = v.IsFlowStyle
	case *ast.MappingValueNode:
		at := v.Key.GetToken().Position
		*f.places = append(*f.places, keyPlace{key: v.Key.GetToken().Value, offset: f.lines[at.Line-1] + at.Column - 1, col: at.Column, flow: f.flow})
	}
	return f
}

// keysOf finds every key of a file in plain ASCII.
func keysOf(t testing.TB, data string) []keyPlace {
	t.Helper()
	file, err := parser.ParseBytes([]byte(data), 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := []int{0}
	for n, c := range data {
		if c == '\n' {
			lines = append(lines, n+1)
		}
	}
	var places []keyPlace
	ast.Walk(keyFinder{lines: lines, places: &places}, file.Docs[0].Body)
	for _, p := range places {
		if !strings.HasPrefix(data[p.offset:], p.key) {
			t.Fatalf("%q does not stand at %d", p.key, p.offset)
		}
	}
	return places
}

// with puts another key before the one at a place.
func (p keyPlace) with(data, key string) string {
	extra := key + ": 1\n" + strings.Repeat(" ", p.col-1)
	if p.flow {
		extra = key + ": 1, "
	}
	return data[:p.offset] + extra + data[p.offset:]
}

func problemsOf(t interface{ Fatalf(string, ...any) }, data string) Problems {
	_, err := Parse("c.yaml", []byte(data), registry())
	if err == nil {
		return nil
	}
	ps, ok := errors.AsType[*Problems](err)
	if !ok {
		t.Fatalf("error is a %T: %v", err, err)
	}
	return *ps
}

func named(ps Problems, key string) bool {
	for _, p := range ps {
		if strings.HasSuffix(p.Path, key) && !strings.Contains(p.What, "YAML") {
			return true
		}
	}
	return false
}

func TestAnUnknownKeyIsFoundEverywhere(t *testing.T) {
	for _, f := range []string{"testdata/design.yaml", "../../deploy/curfew.example.yaml", "testdata/ok/smallest.yaml"} {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range keysOf(t, string(data)) {
			t.Run(fmt.Sprintf("%s beside %s at %d", filepath.Base(f), p.key, p.offset), func(t *testing.T) {
				changed := p.with(string(data), "unheard_of")
				if !named(problemsOf(t, changed), "unheard_of") {
					t.Errorf("no problem names it in\n%s", changed)
				}
			})
		}
	}
}

func TestAMisspeltKeyIsFoundEverywhere(t *testing.T) {
	data, err := os.ReadFile("testdata/design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	places := keysOf(t, string(data))
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(places).Draw(t, "place")
		at := rapid.IntRange(0, len(p.key)-1).Draw(t, "at")
		letter := string(rapid.RuneFrom([]rune("abcdefghijklmnopqrstuvwxyz_")).Draw(t, "letter"))
		slip := rapid.SampledFrom([]string{
			p.key[:at] + p.key[at+1:], p.key[:at] + letter + p.key[at:], p.key[:at] + letter + p.key[at+1:],
		}).Draw(t, "slip")
		if strings.TrimSpace(slip) == "" || slip == p.key || strings.ContainsAny(slip[:1]+slip[len(slip)-1:], " ") {
			return
		}
		if ps := problemsOf(t, p.with(string(data), slip)); !named(ps, slip) && !named(ps, fmt.Sprintf("[%q]", slip)) {
			t.Fatalf("%q beside %s at %d: %v", slip, p.key, p.offset, ps)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/*/*.yaml", "../../deploy/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("c.yaml", data, registry())
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v and error %v", c, err)
		}
		if err == nil {
			if len(c.Accounts) == 0 {
				t.Fatal("a configuration without accounts was accepted")
			}
			for _, p := range c.Policies {
				if p.Policy == nil || p.Match == nil || p.MatchText == "" || p.Rule != nil && p.Rule.Looks < 2 {
					t.Fatalf("policy %+v is not whole", p)
				}
			}
			return
		}
		ps, ok := errors.AsType[*Problems](err)
		if !ok || len(*ps) == 0 {
			t.Fatalf("error %T: %v", err, err)
		}
		for n, p := range *ps {
			if p.Line < 1 || p.What == "" || p.Right == "" {
				t.Fatalf("problem %+v is not whole", p)
			}
			if n > 0 && p.Line < (*ps)[n-1].Line {
				t.Fatalf("problems are not in order: %v", err)
			}
		}
	})
}
