package prometheus_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals/prometheus"
)

func TestQueriesThatAreRefused(t *testing.T) {
	const elsewhere = "stands elsewhere than after =, !=, =~ or !~ between braces"
	for name, c := range map[string]struct{ text, says string }{
		"a value that does not exist":        {`u{a="{{.Nam}}"}`, "{{.Nam}} is not known of an instance; known are {{.ID}}"},
		"all labels":                         {`u{a="{{.Labels}}"}`, "{{.Labels}} is not known of an instance"},
		"a condition":                        {`{{if .Name}}u{{end}}`, "is more than a name"},
		"a function":                         {`u{a="{{printf .Name}}"}`, `cannot be read (line 1: function "printf" not defined)`},
		"braces left open":                   {"u\n{{.Name", "cannot be read (line 2: unclosed action"},
		"a value without quotes":             {`u{a={{.Name}}}`, "{{.Name}} stands outside quotes, where a name would be read as PromQL; write it as in"},
		"a value as a metric":                {`{{.Name}}`, "stands outside quotes"},
		"a value in single quotes":           {`u{a='{{.Name}}'}`, "stands in quotes other than double ones"},
		"a value in backquotes":              {"u{a=`{{.Name}}`}", "stands in quotes other than double ones"},
		"after a quote in other quotes":      {`u{a='"', b={{.Name}}}`, "stands outside quotes"},
		"after a quote that is escaped":      {`u{a="\"", b={{.Name}}}`, "stands outside quotes"},
		"after a backslash that is escaped":  {`u{a="\\", b={{.Name}}}`, "stands outside quotes"},
		"after a backslash in backquotes":    {"u{a=`\\`, b={{.Name}}}", "stands outside quotes"},
		"a value in a comment":               {"u # \"{{.Name}}", "stands in a comment"},
		"a quote in a comment":               {"u{ # \"\n a={{.Name}}}", "stands outside quotes"},
		"a comment that ends in a return":    {"u{ # \"\r a={{.Name}}}", "stands outside quotes"},
		"a value as an argument":             {`label_replace(u, "a", "{{.Name}}", "", "")`, elsewhere},
		"a value as a pattern of a function": {`label_replace(u, "a", "$1", "b", "{{.Name}}")`, elsewhere},
		"a value that is compared, outside":  {`u == "{{.Name}}"`, elsewhere},
		"a value after the braces":           {`u{a="b"} == "{{.Name}}"`, elsewhere},
		"a value as a label's name":          {`u{"{{.Name}}"="a"}`, elsewhere},
		"a value in place of a comparison":   {`u{a="b" "{{.Name}}"}`, elsewhere},
		"a value after a backslash":          {`u{a="\{{.Name}}"}`, "stands after a backslash; write it without"},
		"a backslash that is unknown":        {`u{a="\d{{.Name}}"}`, `has quotes that cannot be read`},
		"a line's end in quotes":             {"u{a=\"\n{{.Name}}\"}", `has quotes that cannot be read`},
		"a value in a class":                 {`u{a=~"[{{.Name}}]"}`, "has a value within [ ] or"},
		"a value as the end of a range":      {`u{a=~"[a-{{.Name}}]+"}`, "has a regular expression that cannot be read (invalid character class range: "},
		"a value that is quoted otherwise":   {`u{a=~"\\Q{{.Name}}\\E"}`, `has a value within [ ] or \Q`},
		"a value after a regular backslash":  {`u{a!~"\\{{.Name}}"}`, "has a regular expression that cannot be read"},
		"a pattern that is none":             {`u{a=~"{{.Name}}("}`, "has a regular expression that cannot be read (missing closing ): "},
		"a quote left open":                  {`u{a="{{.Name}}}`, "has a quote that is left open; close it"},
		"a quote left open, without a value": {`u{a='b}`, "has a quote that is left open; close it"},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := prometheus.ParseQuery(c.text)
			if err == nil || q != nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "; ") {
				t.Errorf("got %v, want %s; and what would be right", err, c.says)
			}
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	for name, c := range map[string]struct{ text, name, asks string }{
		"a name that is compared":             {`u{a="{{.Name}}"}`, "gpu.1", `u{a="gpu.1"}`},
		"with text around it":                 {`u{a="x-{{.Name}}:9400", b='"'}`, "n", `u{a="x-n:9400", b='"'}`},
		"in a pattern":                        {`u{a=~"{{.Name}}:.*"}`, "gpu.1", `u{a=~"(?:gpu\\.1):.*"}`},
		"in one that must not match":          {`u{a !~ "{{.Name}}"}`, "a|b", `u{a !~ "(?:a\\|b)"}`},
		"both":                                {`u{a=~"{{.Name}}",b="{{.Name}}"}`, "a+", `u{a=~"(?:a\\+)",b="a+"}`},
		"after a comment":                     {"u{ # don't =~\n a= # \"=~\r\"{{.Name}}\"}", "a.", "u{ # don't =~\n a= # \"=~\r\"a.\"}"},
		"a name that closes the quotes":       {`u{a="{{.Name}}"}`, `a"} or vector(0) #`, `u{a="a\"} or vector(0) #"}`},
		"one that closes them in a pattern":   {`u{a=~"{{.Name}}"}`, `a"} or vector(0) #`, `u{a=~"(?:a\"\\} or vector\\(0\\) #)"}`},
		"one that ends in a backslash":        {`u{a="{{.Name}}"}`, `a\`, `u{a="a\\"}`},
		"one that is a pattern":               {`u{a=~"{{.Name}}"}`, `.*`, `u{a=~"(?:\\.\\*)"}`},
		"one that ends a group":               {`u{a=~"({{.Name}})"}`, `a)|(.*`, `u{a=~"((?:a\\)\\|\\(\\.\\*))"}`},
		"lines":                               {`u{a="{{.Name}}"}`, "a\n\"\x00", `u{a="a\n\"\x00"}`},
		"Chinese":                             {`u{a=~"{{.Name}}"}`, "实验1", `u{a=~"(?:实验1)"}`},
		"braces that are meant as such":       {`u{a="{{.Name}}{{"{{"}}"}`, "n", `u{a="n{{"}`},
		"a value that is compared with =, in": {`sum(u{a="b"}) + max(u{b="{{.Name}}"})`, "n", `sum(u{a="b"}) + max(u{b="n"})`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := asks(t, c.text, c.name); got != c.asks {
				t.Errorf("asks %s\nwant %s", got, c.asks)
			}
		})
	}
}

// asks gives the query that is asked about an instance of a name.
func asks(t *testing.T, text, name string) string {
	t.Helper()
	d := &double{t: t, answer: vector(`{} 0`)}
	o := d.serve()
	o.Query = query(t, text)
	i := instance("a")
	i.Name = name
	if e := look(t, source(t, o), i)["a"]; e.Activity != fleet.Idle {
		t.Errorf("%s: %s", e.Activity, told(t, e.Reason))
	}
	if len(d.queries) != 1 {
		t.Fatalf("asked %q", d.queries)
	}
	return d.queries[0]
}

func TestEveryValueOfAnInstance(t *testing.T) {
	got := asks(t, `u{a="{{.ID}} {{ .Name }} {{.Account}} {{.Region}} {{.Labels.job}} {{index .Labels "job"}}"}`, "n")
	if want := `u{a="a n lab west j-a j-a"}`; got != want {
		t.Errorf("asks %s, want %s", got, want)
	}
}

// Whatever a query is, it is read or refused, and says so in words.
func TestAnyTextIsReadOrRefused(t *testing.T) {
	signs := rapid.SliceOfN(rapid.SampledFrom([]string{
		"{{.Name}}", "{", "}", `"`, `'`, "`", `\`, "=", "~", "!", "#", "\n", "[", "]", "(", ")", "a", "|", " ", `{a=~"`, `\\Q`, `\\E`,
	}), 0, 12)
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(signs.Draw(r, "signs"), "")
		q, err := prometheus.ParseQuery(text)
		if (q == nil) == (err == nil) || err != nil && !strings.Contains(err.Error(), "; ") {
			t.Errorf("%q: %v, %v", text, q, err)
		}
	})
}
