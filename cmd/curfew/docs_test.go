package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite docs/reference/cli.md")

const reference = "../../docs/reference/cli.md"

func TestTheCommandReferenceIsUpToDate(t *testing.T) {
	want := commandReference((&program{}).root())
	if *update {
		if err := os.WriteFile(reference, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/cli.md is out of date; run make generate (-want +got):\n%s", diff)
	}
}

func commandReference(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!-- Written by make generate from the program itself; change it there. -->

# Commands

REF names an instance: by its name, its id, or the whole reference that curfew
explain prints. Tables are for people, and `+"`--json`"+` is for programs: what it
prints is stable, and only ever added to. Answers go to stdout, everything else
to stderr.

| exit code | means |
| --- | --- |
| %d | fine |
| %d | failed |
| %d | wrong usage, or a configuration with mistakes |
| %d | a part failed; the rest is right |
| %d | plan: something would be done |

Every command takes these:

`, exitFine, exitFailed, exitUsage, exitPartly, exitPending)
	flagTable(&b, root.PersistentFlags())
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
		about := c.Long
		if about == "" {
			about = c.Short + "."
		}
		fmt.Fprintf(&b, "%s\n\n```sh\n%s\n```\n", about, strings.TrimSpace(strings.ReplaceAll(c.Example, "\n  ", "\n")))
		if c.NonInheritedFlags().HasFlags() {
			b.WriteByte('\n')
			flagTable(&b, c.NonInheritedFlags())
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	for _, c := range root.Commands() {
		walk(c)
	}
	return b.String()
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | means | default |\n| --- | --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		placeholder, means := pflag.UnquoteUsage(f)
		def := "–"
		if f.DefValue != "" && f.DefValue != "false" {
			def = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+placeholder), strings.ReplaceAll(means, "|", `\|`), def)
	})
}

// What the pages tell people to type is what the program understands.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	block := regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```$")
	inline := regexp.MustCompile("`((?:bin/)?curfew [a-z][^`]*)`")
	commands := 0
	check := func(page, line string, whole bool) {
		words, ours := typed(line)
		if !ours {
			return
		}
		commands++
		root := (&program{}).root()
		c, rest, err := root.Find(words)
		if err == nil && c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			err = fmt.Errorf("there is no command %s", rest[0])
		}
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil && whole {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: %s: %v", page, line, err)
		}
	}
	for page, content := range pages(t) {
		for _, m := range block.FindAllStringSubmatch(content, -1) {
			if m[1] != "sh" {
				continue // output, configuration
			}
			for line := range strings.SplitSeq(m[2], "\n") {
				for part := range strings.SplitSeq(line, "&&") {
					check(page, strings.TrimSpace(part), true)
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(block.ReplaceAllString(content, ""), -1) {
			check(page, m[1], false)
		}
	}
	if commands < 20 {
		t.Errorf("only %d commands were found in the pages; is the test looking at the right ones?", commands)
	}
}

// pages gives every page of the documentation by its path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		data, err := fs.ReadFile(root, path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// typed splits a line as a shell would, as far as the pages use one, and gives
// the arguments if it runs curfew.
func typed(line string) (args []string, ours bool) {
	word := regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	words := word.FindAllString(line, -1)
	for len(words) > 0 && (words[0] == "sudo" || regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "curfew" && words[0] != "bin/curfew" {
		return nil, false
	}
	for _, w := range words[1:] {
		if w == "|" || w == ">" || w == "&" || strings.HasPrefix(w, "2>") || w == "#" {
			break
		}
		args = append(args, strings.Trim(w, `'"`))
	}
	return args, true
}
