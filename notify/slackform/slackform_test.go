package slackform_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/slackform"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample is a platform under test.
type sample struct {
	kind    notify.Kind
	path    string
	secrets []string // beside the path and the whole address
	taken   string   // a success
}

func (s sample) webhook() string { return "https://chat.lab.example" + s.path }
func (s sample) hidden() []string {
	return append([]string{s.webhook(), s.path}, s.secrets...)
}

func mattermost() sample {
	const id = "aSecretThatIsNone1234567890"
	return sample{slackform.Mattermost(), "/hooks/" + id, []string{id}, "ok"}
}

func rocketchat() sample {
	const id, token = "aPartThatIsNone", "aSecret_That-IsNone1234567890"
	return sample{slackform.RocketChat(), "/team/hooks/" + id + "/" + token, []string{id + "/" + token, token}, `{"success":true}`}
}

func samples() map[string]sample {
	return map[string]sample{"mattermost": mattermost(), "rocketchat": rocketchat()}
}

func (s sample) open(baseURL string, client *http.Client) (notify.Channel, error) {
	return s.kind.Open(notify.Options{
		Name: "lab", BaseURL: baseURL, Credential: map[string]string{"webhook": s.webhook()}, HTTP: client,
	})
}

func (s sample) mustOpen(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := s.open(baseURL, client)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "Will stop exp-7 at 02:10 (in 10m)", Severity: fleet.Warning,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\nTo make it wait: `curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\nTo make it wait: curfew hold exp-7 2h\n#12",
	}
}

func chinese() notify.Message {
	m := message()
	m.Title, m.Severity = "02:10 将释放：exp-7（10分钟后）", fleet.Critical
	m.Markdown = "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\n如需暂缓：`curfew hold exp-7 2h`\n#12"
	m.Plain = "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n如需暂缓：curfew hold exp-7 2h\n#12"
	return m
}

type payload struct {
	Text        string `json:"text"`
	Attachments []struct {
		Fallback string `json:"fallback"`
		Colour   string `json:"color"`
		Text     string `json:"text"`
	} `json:"attachments"`
}

// check keeps the platforms' limits, and lets nobody be called but the two people of
// these tests.
func (p payload) check() error {
	var errs []error
	within := func(what, s string, limit int) {
		if n := utf8.RuneCountInString(s); n < 1 || n > limit {
			errs = append(errs, fmt.Errorf("%s has %d characters, want 1 to %d", what, n, limit))
		}
		words := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(s, "")
		for _, m := range regexp.MustCompile(`@[0-9A-Za-z._-]+|<![a-z]+`).FindAllString(words, -1) {
			if !slices.Contains([]string{"@wang", "@li.si"}, m) {
				errs = append(errs, fmt.Errorf("%s mentions %s: %q", what, m, s))
			}
		}
	}
	within("text", p.Text, 4000)
	if len(p.Attachments) > 1 {
		errs = append(errs, fmt.Errorf("%d attachments", len(p.Attachments)))
	}
	for _, a := range p.Attachments {
		within("attachment", a.Text, 4000)
		within("fallback", a.Fallback, 1000)
		if !regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(a.Colour) {
			errs = append(errs, fmt.Errorf("color %q", a.Colour))
		}
	}
	return errors.Join(errs...)
}

func (s sample) expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: s.path, ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

func TestPayloads(t *testing.T) {
	calm, armed, linked := message(), message(), message()
	calm.Severity = fleet.Info
	armed.Title, armed.Plain = "@all <!channel> [a](https://b) **c**", "@here `x`\n@channel"
	armed.Markdown = "@all and `mail a@b` and @here\n> half a `code @channel\n**@all**"
	linked.Actions = []notify.Action{{Label: "Wait 2h", URL: "https://curfew.lab/a?id=12&t=x", Value: "v"}, {Label: "No", Value: "v"}, {Label: "Now", URL: "https://curfew.lab/b"}}
	linked.Mentions = []string{"wang", "all", "HERE", "channel", "@all", "li.si", "a b"}
	quiet := linked
	quiet.Silent = true
	for name, m := range map[string]notify.Message{
		"en": message(), "zh": chinese(), "info": calm, "armed": armed, "linked": linked, "silent": quiet,
	} {
		for _, form := range []string{"attachment", "text"} {
			t.Run(name+"-"+form, func(t *testing.T) {
				sent := m
				if form == "text" {
					sent.Markdown = ""
				}
				for _, s := range samples() { // both take the same
					server := notifytest.NewServer(t, s.expect(), notifytest.Reply{Body: s.taken})
					if v := s.mustOpen(t, server.URL, notifytest.Client()).Send(t.Context(), sent); v.Kind != notify.VerdictOK {
						t.Errorf("verdict %+v", v)
					}
					notifytest.Golden(t, *update, name+"-"+form+".json", string(server.Bodies()[0]))
				}
			})
		}
	}
}

func TestUnreachable(t *testing.T) {
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) { notifytest.Unreachable(t, s.mustOpen, "", message(), s.hidden()...) })
	}
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]sample{mattermost(), rocketchat()}).Draw(t, "platform")
		to := s.expect()
		to.Whole = func(r *http.Request, _ []byte) error {
			if r.URL.String() != s.webhook() {
				return fmt.Errorf("posts to %s", r.URL)
			}
			return nil
		}
		client := notifytest.Takes(t, to, notifytest.Reply{Body: s.taken})
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("al训🙂@&\n *[](")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 400).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + long("title"), Markdown: "m" + long("markdown"), Plain: "p" + long("plain"), Silent: rapid.Bool().Draw(t, "silent")}
		if rapid.Bool().Draw(t, "refused before") {
			m.Markdown = ""
		}
		for range rapid.IntRange(0, 5).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{Label: "l", URL: "https://h/" + strings.Repeat("a", rapid.IntRange(0, 900).Draw(t, "long"))})
		}
		m.Mentions = rapid.SliceOfN(rapid.SampledFrom([]string{"wang", "li.si", "all", "Here", "@channel"}), 0, 40).Draw(t, "mentions")
		c, err := s.open("", client)
		if err != nil {
			t.Fatal(err)
		}
		if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	with := func(change func(string) string) func(*notify.Options) {
		return func(o *notify.Options) {
			o.Credential = map[string]string{"webhook": change(o.Credential["webhook"])}
		}
	}
	for name, s := range samples() {
		good := func() notify.Options {
			return notify.Options{Name: "lab", HTTP: notifytest.Client(), Credential: map[string]string{"webhook": s.webhook()}}
		}
		t.Run(name, func(t *testing.T) {
			notifytest.Refuses(t, s.kind, good, s.hidden(), map[string]notifytest.Refusal{
				"no webhook":                 {with(func(string) string { return "" }), "no webhook; give webhook: {env: NAME}"},
				"the last part alone":        {with(func(string) string { return s.secrets[0] }), "whole address"},
				"another platform's address": {with(func(string) string { return "https://discord.com/api/webhooks/1/aSecret" }), "give one like https://chat.lab.example/hooks/"},
				"an address with a query":    {with(func(w string) string { return w + "?x=1" }), "give one like"},
				"an address with a name":     {with(func(w string) string { return strings.Replace(w, "//", "//me:you@", 1) }), "give one like"},
				"a line end":                 {with(func(w string) string { return w + "\n" }), "not a web address"},
				"a base that is no address":  {func(o *notify.Options) { o.BaseURL = "127.0.0.1:9" }, "base_url is not a web address"},
				"no client":                  {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
			})
		})
	}
}

// Every notice in both languages, as both take it.
func TestTold(t *testing.T) {
	for _, s := range samples() {
		notifytest.Payloads(t, *update, "json", func(t *testing.T, m notify.Message) string {
			return notifytest.Posted(t, s.expect(), notifytest.Reply{Body: s.taken}, func(base string) notify.Channel {
				return s.mustOpen(t, base, notifytest.Client())
			}, m)
		})
	}
}
