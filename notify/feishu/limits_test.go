package feishu_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"curfew/notify"
	"curfew/notify/feishu"
	"curfew/notify/feishu/feishutest"
)

func TestNoMessageIsTooLongForTheBot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bot := feishutest.New(token, secret, clock, t.Errorf)
		c, err := feishu.Kind().Open(options(feishu.Kind().DefaultURL, &http.Client{Transport: bot}))
		if err != nil {
			t.Fatal(err)
		}
		words := func(name string) string {
			pieces := rapid.SampledFrom([]string{"a", "训", "🙂", "<at id=all>", "<", "at user_id=\"all\"", "&", "\n", "`", "\x01", "\u2028"})
			s := strings.Join(rapid.SliceOfN(pieces, 0, 60).Draw(t, name), "")
			return strings.Repeat(s, rapid.IntRange(1, 60).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + words("title"), Markdown: words("markdown") + "m", Plain: words("plain")}
		if rapid.Bool().Draw(t, "as text") {
			m.Markdown = ""
		}
		for n := range rapid.IntRange(0, 8).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{
				Label: "l" + words(fmt.Sprint("label ", n)), URL: "https://c.example/" + strings.Repeat("/?a=训&", rapid.IntRange(0, 200).Draw(t, "url")),
			})
		}
		for n := range rapid.IntRange(0, 60).Draw(t, "mentions") {
			m.Mentions = append(m.Mentions, strings.Repeat("u", 60)+fmt.Sprint(n))
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
		if got := bot.Messages()[0]; strings.Contains(got.Text, `\u003c`) {
			t.Fatalf("HTML escapes in %q", got.Text)
		}
	})
}

// What is too long is cut to the limit and not far below it, and what stands beside
// it keeps within bounds of its own.
func TestALongMessageFillsTheRoom(t *testing.T) {
	for name, m := range map[string]notify.Message{
		"card": with(chinese(), func(m *notify.Message) { m.Markdown = strings.Repeat("a", 30_000) }),
		"text": with(chinese(), func(m *notify.Message) { m.Markdown, m.Plain = "", strings.Repeat("a", 30_000) }),
	} {
		t.Run(name, func(t *testing.T) {
			bot := feishutest.New(token, secret, clock, t.Errorf)
			m.Mentions = nil
			for n := range 60 {
				m.Mentions = append(m.Mentions, fmt.Sprint("ou_", n))
			}
			if v := open(t, options(feishu.Kind().DefaultURL, &http.Client{Transport: bot})).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Fatalf("verdict %+v", v)
			}
			if size := len(bot.Bodies()[0]); size > 20_000 || size < 19_980 {
				t.Errorf("the body has %d bytes, want nearly 20000", size)
			}
			if n := strings.Count(bot.Messages()[0].Text, "</at>"); n != 20 {
				t.Errorf("%d are mentioned, want 20", n)
			}
		})
	}
}
