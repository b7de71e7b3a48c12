package notify_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/notifytest"
)

func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, words := range files {
		out[name] = &fstest.MapFile{Data: []byte(words)}
	}
	return out
}

func templates(t testing.TB, files map[string]string) *notify.Templates {
	t.Helper()
	read, err := notify.ReadTemplates("words", folder(files))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func night() time.Time { return time.Date(2026, 11, 30, 2, 0, 0, 0, time.FixedZone("CST", 8*60*60)) }

func worded(t testing.TB, lang text.Language, files map[string]string) notify.OpenChannel {
	t.Helper()
	words, err := text.New(lang, night().Location())
	if err != nil {
		t.Fatal(err)
	}
	return notify.OpenChannel{Kind: notify.Kind{Name: "wecom"}, Renderer: words, Templates: templates(t, files)}
}

func TestATemplateTellsANotice(t *testing.T) {
	files := map[string]string{
		"_foot.tmpl": "{{with .Hold}}Wait: {{.}}{{end}}",
		"pending.tmpl": `{{define "title"}}{{.Subject.Name}} goes at {{.Deadline}}{{end -}}
**{{.Subject.Name}}** ({{.Subject.GPUs}} × {{.Subject.GPU}}) costs {{.Subject.PerDay}} a day
{{range .Reasons}}> {{.}}
{{end}}
{{template "_foot.tmpl" .}}
[why](https://wiki.example/curfew)`,
		"default.tmpl": "{{.Event}} on {{.Channel}} in {{.Language}}: {{.Title}}\n{{.Body}}",
		"group.tmpl":   "{{range .Notices}}{{.Event}}: {{.Title}}\n{{end}}",
	}
	open := worded(t, text.English, files)
	render := func(event string) notify.Message {
		t.Helper()
		m, err := open.Render(notify.Sample(event, night()), night())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	pending := render("pending")
	if want := "sample goes at 02:10"; pending.Title != want {
		t.Errorf("title %q, want %q", pending.Title, want)
	}
	want := "**sample** (1 × RTX 4090) costs 47.52 CNY a day\n> sample-policy: Sample: no use of the GPU for 45m\n\n" +
		"Wait: `curfew hold sample 2h`\n[why](https://wiki.example/curfew)"
	if diff := cmp.Diff(want, pending.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	want = "sample (1 × RTX 4090) costs 47.52 CNY a day\nsample-policy: Sample: no use of the GPU for 45m\n\n" +
		"Wait: curfew hold sample 2h\nwhy: https://wiki.example/curfew"
	if diff := cmp.Diff(want, pending.Plain); diff != "" {
		t.Errorf("plain (-want +got):\n%s", diff)
	}
	resolved := render("resolved")
	if !strings.HasPrefix(resolved.Markdown, "resolved on wecom in en: Resolved: sample · Sample: reachable again after 40m\nsample (sample-0001)") {
		t.Errorf("default gave %q", resolved.Markdown)
	}
	if resolved.Title != "Resolved: sample · Sample: reachable again after 40m" {
		t.Errorf("without a title of its own: %q", resolved.Title)
	}
	group := render("group")
	want = "finding: Critical: sample-account · Sample: 14.20 CNY left, enough for 5h\nresolved: Resolved: sample · Sample: reachable again after 40m"
	if diff := cmp.Diff(want, group.Markdown); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
	delete(files, "group.tmpl")
	open = worded(t, text.English, files)
	if got, usual := render("group"), notify.RenderGroup(notify.Sample("group", night()), open.Renderer, night()); got.Markdown != usual.Markdown {
		t.Errorf("default tells a group: %q", got.Markdown)
	}
}

// What comes from outside cannot become markup, not even together with what stands
// beside it, and is whole again in plain words.
func TestValuesAreEscaped(t *testing.T) {
	n := notify.Sample("pending", night())[0]
	n.Intent.Subject.Name, n.Subject.Name = "**a** <@all> [x](https://evil) `b`]", "**a** <@all> [x](https://evil) `b`]"
	n.Intent.Subject.Owner, n.Subject.Owner = "(https://evil)\n# head", "(https://evil)\n# head"
	open := worded(t, text.English, map[string]string{"default.tmpl": "{{define \"title\"}}{{.Subject.Name}}{{end}}{{.Subject.Name}}{{.Subject.Owner}}"})
	m, err := open.Render([]notify.Notice{n}, night())
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"**", "](", "<@", "`", "\n"} {
		if strings.Contains(m.Markdown, bad) {
			t.Errorf("%q is in %q", bad, m.Markdown)
		}
	}
	if want := "**a** <@all> [x](https://evil) 'b'](https://evil) # head"; m.Plain != want {
		t.Errorf("plain %q, want %q", m.Plain, want)
	}
	if want := "**a** <@all> [x](https://evil) `b`]"; m.Title != want {
		t.Errorf("title %q, want %q", m.Title, want)
	}
}

func TestWrongTemplates(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no template":        {nil, "words holds no template; write one, such as default.tmpl"},
		"no such event":      {map[string]string{"pendng.tmpl": "x"}, `words/pendng.tmpl: there is no event "pendng"`},
		"no end":             {map[string]string{"done.tmpl": "a\n{{if .Title}}"}, "words/done.tmpl:2: unexpected EOF"},
		"no function":        {map[string]string{"done.tmpl": "{{env \"HOME\"}}"}, `words/done.tmpl:1: function "env" not defined`},
		"no field":           {map[string]string{"done.tmpl": "a\n\n{{.Nome}}"}, "words/done.tmpl:3:2: executing"},
		"no label":           {map[string]string{"done.tmpl": "{{.Subject.Labels.team}}"}, `map has no entry for key "team"`},
		"wrong in a part":    {map[string]string{"_foot.tmpl": "\n{{.Nome}}", "done.tmpl": `{{template "_foot.tmpl" .}}`}, "words/_foot.tmpl:2:2: executing"},
		"gives nothing":      {map[string]string{"done.tmpl": " \n"}, "words/done.tmpl: it gives nothing"},
		"title of nothing":   {map[string]string{"done.tmpl": `{{define "title"}} {{end}}x`}, "words/done.tmpl: its title gives nothing"},
		"too much":           {map[string]string{"done.tmpl": "{{range 100000}}xxxx{{end}}"}, "it gives more than 16384 bytes"},
		"too large":          {map[string]string{"done.tmpl": strings.Repeat("x", 65<<10)}, "it has 66560 bytes; 65536 are allowed"},
		"calls itself":       {map[string]string{"done.tmpl": `{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`}, "exceeded maximum template depth"},
		"all that is wrong":  {map[string]string{"done.tmpl": "{{", "pendng.tmpl": "x"}, "\nwords/pendng.tmpl: there is no event"},
		"group without list": {map[string]string{"group.tmpl": "{{(index .Notices 9).Title}}"}, "words/group.tmpl:1:3: executing"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			read, err := notify.ReadTemplates("words", folder(c.files))
			if err != nil {
				all = append(all, err.Error())
			} else {
				for _, err := range read.Check(night()) {
					all = append(all, err.Error())
				}
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("told %q, want %q in it", got, c.want)
			}
		})
	}
	if _, err := notify.ReadTemplates("words", fstest.MapFS{"done.tmpl/x": {}}); err == nil {
		t.Error("a folder was taken for a template")
	}
}

// What would never end is given up, and ends with the next word that it gives.
func TestASlowTemplateIsGivenUp(t *testing.T) {
	read := templates(t, map[string]string{"default.tmpl": "{{range 10000}}{{range 50000}}{{end}} {{end}}x"})
	errs := read.Check(night())
	if len(errs) != 1 || errs[0].Error() != "words/default.tmpl: it took more than 1s" {
		t.Errorf("told %v", errs)
	}
}

func TestWhatATemplateDoesIsCheckedForEveryEvent(t *testing.T) {
	read := templates(t, map[string]string{"default.tmpl": "{{.Title}}\n{{.Body}}\n{{range .Lines}}{{.}}{{end}}{{range .Actions}}[{{.Label}}]({{.URL}}){{end}}", "group.tmpl": "{{.Body}}"})
	if errs := read.Check(night()); len(errs) > 0 {
		t.Error(errs)
	}
}

// A template that fails is logged once, and people are told all the same.
func TestAFailingTemplateIsLeftAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, ch := notifytest.NewOutbox(t), &channelFunc{}
		for range 2 {
			o.Add(notify.Delivery{Channel: "a", Notice: notify.Notice{
				Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryHealth, Reason: fleet.Because("x.y", nil),
			}})
		}
		var log strings.Builder
		options := senderOptions(t, o, 0, map[string]notify.Channel{"a": ch})
		options.Logger = options.Logger.Output(&log)
		open := options.Channels["a"]
		open.Templates = templates(t, map[string]string{"finding.tmpl": `{{index .Reasons 7}}`})
		options.Channels["a"] = open
		if _, err := notify.NewSender(options).Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(ch.sent) != 2 || ch.sent[0].Title != "Warning: x.y" || ch.sent[1].Title != "Warning: x.y" {
			t.Errorf("sent %+v", ch.sent)
		}
		if n := strings.Count(log.String(), "template not used"); n != 1 || !strings.Contains(log.String(), "words/finding.tmpl:1") {
			t.Errorf("logged %d times: %s", n, log.String())
		}
	})
}
