package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"
	"unicode"

	"curfew/fleet"
)

// source is what the program's source says of reasons.
type source struct {
	consts map[string]map[string]fleet.Code // package folder -> constant -> code
	where  map[fleet.Code]string
	// values are the value names that reasons of a code are made with; a code one
	// of whose reasons gets its values from a variable is in open instead.
	values map[fleet.Code]map[string]bool
	open   map[fleet.Code]bool
}

func readSource(t *testing.T) source {
	t.Helper()
	s := source{
		consts: map[string]map[string]fleet.Code{}, where: map[fleet.Code]string{},
		values: map[fleet.Code]map[string]bool{}, open: map[fleet.Code]bool{},
	}
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			if files[path], err = parser.ParseFile(fset, path, nil, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		s.readConstants(t, fset, filepath.Dir(path), files[path])
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		s.readReasons(t, fset, filepath.Dir(path), files[path])
	}
	if len(s.where) == 0 {
		t.Fatal("no constant of type fleet.Code found in the source")
	}
	return s
}

// readConstants collects constants declared as Name fleet.Code = "code".
func (s source) readConstants(t *testing.T, fset *token.FileSet, dir string, f *ast.File) {
	t.Helper()
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !isFleet(spec.Type, "Code") && !isOwn(f, spec.Type) {
			return true
		}
		for i, name := range spec.Names {
			if i >= len(spec.Values) {
				continue // a variable
			}
			code := fleet.Code(literal(spec.Values[i]))
			at := fset.Position(name.Pos()).String()
			if code == "" {
				t.Errorf("%s: the code of %s is not a plain string", at, name.Name)
				continue
			}
			if other, twice := s.where[code]; twice {
				t.Errorf("%s: code %s is declared a second time; first at %s", at, code, other)
			}
			s.where[code] = at
			if s.consts[dir] == nil {
				s.consts[dir] = map[string]fleet.Code{}
			}
			s.consts[dir][name.Name] = code
		}
		return true
	})
}

// isOwn reports whether a type is Code as package fleet itself writes it.
func isOwn(f *ast.File, e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "Code" && f.Name.Name == "fleet"
}

// readReasons collects the value names at every fleet.Because(code, values).
func (s source) readReasons(t *testing.T, fset *token.FileSet, dir string, f *ast.File) {
	t.Helper()
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isFleet(call.Fun, "Because") || len(call.Args) != 2 {
			return true
		}
		if text := literal(call.Args[0]); text != "" {
			t.Errorf("%s: the code %q is written out; declare it: const ReasonX fleet.Code = %q",
				fset.Position(call.Pos()), text, text)
			return true
		}
		code := s.code(dir, call.Args[0])
		if code == "" {
			return true // handed in by a caller
		}
		names, ok := valueNames(call.Args[1])
		if !ok {
			s.open[code] = true
			return true
		}
		if s.values[code] == nil {
			s.values[code] = map[string]bool{}
		}
		for _, name := range names {
			s.values[code][name] = true
		}
		return true
	})
}

// code resolves a constant of the same package, or of another by its name.
func (s source) code(dir string, e ast.Expr) fleet.Code {
	switch x := e.(type) {
	case *ast.Ident:
		return s.consts[dir][x.Name]
	case *ast.SelectorExpr:
		pkg, _ := x.X.(*ast.Ident)
		for other, consts := range s.consts {
			if pkg != nil && filepath.Base(other) == pkg.Name && consts[x.Sel.Name] != "" {
				return consts[x.Sel.Name]
			}
		}
	}
	return ""
}

func valueNames(e ast.Expr) (names []string, ok bool) {
	switch x := e.(type) {
	case *ast.Ident:
		return nil, x.Name == "nil"
	case *ast.CompositeLit:
		for _, el := range x.Elts {
			kv, isPair := el.(*ast.KeyValueExpr)
			if !isPair || literal(kv.Key) == "" {
				return nil, false
			}
			names = append(names, literal(kv.Key))
		}
		return names, true
	}
	return nil, false
}

// isFleet reports whether e is fleet.name.
func isFleet(e ast.Expr, name string) bool {
	x, ok := e.(*ast.SelectorExpr)
	if !ok || x.Sel.Name != name {
		return false
	}
	pkg, ok := x.X.(*ast.Ident)
	return ok && pkg.Name == "fleet"
}

func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

func allTexts(t *testing.T) entries {
	t.Helper()
	all := entries{}
	for _, area := range areas() {
		for code, e := range area {
			if _, twice := all[code]; twice {
				t.Errorf("%s has two texts", code)
			}
			all[code] = e
		}
	}
	return all
}

func TestEveryCodeHasATextAndEveryTextACode(t *testing.T) {
	s, texts := readSource(t), allTexts(t)
	for _, code := range slices.Sorted(maps.Keys(s.where)) {
		if e, ok := texts[code]; !ok || e.en == "" || e.zh == "" {
			t.Errorf("%s: %s lacks a text in English or Chinese", s.where[code], code)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(texts)) {
		if _, ok := s.where[code]; !ok && !strings.HasPrefix(string(code), "action.") {
			t.Errorf("%s has a text, but no constant of type fleet.Code in the source says it", code)
		}
	}
}

// Actions have no constant of their own: their words are looked up by name.
func TestEveryActionHasAWord(t *testing.T) {
	texts := allTexts(t)
	for a := fleet.Keep; a <= fleet.Order; a++ {
		if texts[fleet.Code("action."+a.String())].zh == "" {
			t.Errorf("action.%s has no text", a)
		}
	}
}

func TestTextsUseOnlyValuesThatReasonsCarry(t *testing.T) {
	s := readSource(t)
	for code, e := range allTexts(t) {
		en, zh := fields(t, code, e.en), fields(t, code, e.zh)
		if !slices.Equal(en, zh) {
			t.Errorf("%s tells %v in English and %v in Chinese", code, en, zh)
		}
		if s.open[code] || s.where[code] == "" {
			continue
		}
		for _, name := range en {
			if s.values[code] != nil && !s.values[code][name] {
				t.Errorf("%s: the text of %s shows {{.%s}}, but its reasons carry only %v",
					s.where[code], code, name, slices.Sorted(maps.Keys(s.values[code])))
			}
		}
	}
}

// fields lists the values a text shows or asks about, and refuses anything but
// plain values and if.
func fields(t *testing.T, code fleet.Code, text string) []string {
	t.Helper()
	tmpl, err := template.New(string(code)).Parse(text)
	if err != nil {
		t.Errorf("%s: %v", code, err)
		return nil
	}
	if tmpl.Tree == nil {
		return nil
	}
	seen := map[string]bool{}
	var walk func(parse.Node)
	list := func(l *parse.ListNode) {
		if l != nil {
			for _, n := range l.Nodes {
				walk(n)
			}
		}
	}
	walk = func(n parse.Node) {
		switch x := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			walk(x.Pipe)
		case *parse.IfNode:
			walk(x.Pipe)
			list(x.List)
			list(x.ElseList)
		case *parse.PipeNode:
			if len(x.Decl) > 0 || len(x.Cmds) != 1 || len(x.Cmds[0].Args) != 1 {
				t.Errorf("%s: {{%s}} is more than a value's name", code, x)
				return
			}
			walk(x.Cmds[0].Args[0])
		case *parse.FieldNode:
			if len(x.Ident) != 1 {
				t.Errorf("%s: %s is more than a value's name", code, x)
			}
			seen[x.Ident[0]] = true
		default:
			t.Errorf("%s: %s is neither a value nor an if", code, n)
		}
	}
	list(tmpl.Root)
	return slices.Sorted(maps.Keys(seen))
}

func TestTextsAreWrittenInTheirLanguage(t *testing.T) {
	action := regexp.MustCompile(`\{\{.*?\}\}`)
	isHan := func(r rune) bool { return unicode.Is(unicode.Han, r) }
	for code, e := range allTexts(t) {
		en, zh := action.ReplaceAllString(e.en, ""), action.ReplaceAllString(e.zh, "")
		if strings.ContainsFunc(en, isHan) {
			t.Errorf("the English text of %s has Chinese in it: %s", code, e.en)
		}
		// Values and signs alone read the same in every language.
		if strings.ContainsFunc(zh, unicode.IsLetter) && !strings.ContainsFunc(zh, isHan) {
			t.Errorf("the Chinese text of %s has no Chinese in it: %s", code, e.zh)
		}
		for _, s := range []string{e.en, e.zh} {
			if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "。") {
				t.Errorf("the text of %s ends in a full stop: %q", code, s)
			}
		}
	}
}
