package probe_test

import (
	"strings"
	"testing"

	"curfew/fleet"
	"curfew/signals/probe"
)

func TestQuestionsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		url        bool
	}{
		"a value that does not exist":    {"echo {{.Nam}}", "{{.Nam}} is not known of an instance; known are {{.ID}}", false},
		"a value of a value":             {"echo {{.Name.First}}", "{{.Name.First}} is not known of an instance", false},
		"all labels":                     {"echo {{.Labels}}", "{{.Labels}} is not known of an instance", false},
		"labels of labels":               {"echo {{.Labels.a.b}}", "{{.Labels.a.b}} is not known of an instance", false},
		"the whole instance":             {"echo {{.}}", "{{.}} is more than a name", false},
		"a function":                     {"echo {{printf .Name}}", "cannot be read (line 1: function \"printf\" not defined)", false},
		"a condition":                    {"{{if .Name}}echo{{end}}", "is more than a name", false},
		"a pipe":                         {"echo {{.Name | index}}", "is more than a name", false},
		"a variable":                     {"echo {{$x := .Name}}", "is more than a name", false},
		"an index without labels":        {"echo {{index .Name \"a\"}}", "{{.Name.a}} is not known of an instance", false},
		"a number":                       {"echo {{3}}", "{{3}} is more than a name", false},
		"braces left open":               {"echo\n{{.Name", "cannot be read (line 2: unclosed action", false},
		"a value in single quotes":       {"awk '/{{.Name}}/'", "{{.Name}} stands inside single quotes", false},
		"in quotes inside a command":     {`x="$(echo '{{.Name}}')"`, "{{.Name}} stands inside single quotes", false},
		"a value after a backslash":      {`echo \{{.Name}}`, "{{.Name}} stands after a backslash", false},
		"a template as the whole URL":    {"{{.Name}}", "is not the address of a service", true},
		"a value in the host":            {"http://x.{{.Name}}/", "{{.Name}} is part of the host", true},
		"a value in the port":            {"http://x:1{{.ID}}/", "is not the address of a service", true},
		"a value after a host's end":     {"http://x{{.ID}}", "{{.ID}} is part of the host", true},
		"a file":                         {"file:///etc/passwd", "is not the address of a service", true},
		"no host":                        {"http:///x", "is not the address of a service", true},
		"a control sign":                 {"http://h/\x01", "is not the address of a service", true},
		"a user":                         {"http://u@h/", "holds a password", true},
		"what a browser keeps to itself": {"http://h/x#y", "has a # in it", true},
	} {
		t.Run(name, func(t *testing.T) {
			parse := probe.ParseCommand
			if c.url {
				parse = probe.ParseURL
			}
			q, err := parse(c.text)
			if err == nil || q != nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "; ") {
				t.Errorf("got %v, want %s; and what would be right", err, c.says)
			}
		})
	}
}

func TestWhereAShellPutsAValue(t *testing.T) {
	i := instance("a")
	i.Name = "a  b"
	for name, text := range map[string]string{
		"as a word":                     `[ {{.Name}} = 'a  b' ]`,
		"in double quotes":              `[ "<{{.Name}}>" = '<a  b>' ]`,
		"beside quotes":                 `[ '<'{{.Name}}">" = '<a  b>' ]`,
		"in a command in double quotes": `[ "$(echo {{.Name}})" = 'a  b' ]`,
		"deeper":                        `[ "$(echo "$(echo {{.Name}})"'"' {{.Name}})" = 'a  b" a  b' ]`,
		"in backquotes":                 "[ \"`echo {{.Name}}`\" = 'a  b' ]",
		"after a quote in a comment":    "# don't\n[ {{.Name}} = 'a  b' ]",
		"after a # that is no comment":  `x=$#; y={{.Name}}#"; [ {{.Name}} = 'a  b' ]"; [ "$y" = "a  b#; [ {{.Name}} = 'a  b' ]" ]`,
		"after a quoted quote":          `x=\"; y='"'; [ {{.Name}} = 'a  b' ]`,
		"braces as they stand":          `[ '{{"{{"}}.Names}}' = '{''{.Names}}' ]`,
		"without any value":             `[ '}}' = '}}' ]`,
		"with a remark":                 `{{/* who */}}[ {{.Name}} = 'a  b' ]`,
		"in a pattern":                  `case {{.Name}} in a*b) true;; *) false;; esac`,
		"between parentheses":           `( [ "{{.Name}}" = 'a  b' ] )`,
	} {
		t.Run(name, func(t *testing.T) {
			if e := askCommand(t, text+" && echo idle", i); e.Activity != fleet.Idle {
				t.Errorf("got %s: %s", e.Activity, told(t, e.Reason))
			}
		})
	}
}
