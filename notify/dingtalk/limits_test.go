package dingtalk_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"curfew/notify"
	"curfew/notify/dingtalk"
	"curfew/notify/dingtalk/dingtalktest"
)

func TestNoMessageIsTooLongForTheRobot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		robot := dingtalktest.New(token, secret, clock, t.Errorf)
		c, err := dingtalk.Kind().Open(options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot}))
		if err != nil {
			t.Fatal(err)
		}
		words := func(name string) string {
			s := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<>&\n`\"@\x01\u2028")), 0, 200, -1).Draw(t, name)
			return strings.Repeat(s, rapid.IntRange(1, 60).Draw(t, name+" times"))
		}
		m := notify.Message{DeliveryID: "7", Title: "t" + words("title"), Markdown: words("markdown"), Plain: words("plain")}
		for n := range rapid.IntRange(0, 8).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{
				Label: words(fmt.Sprint("label ", n)), URL: "https://c.example/" + strings.Repeat("/?a=训&", rapid.IntRange(0, 200).Draw(t, "url")),
			})
		}
		for n := range rapid.IntRange(0, 60).Draw(t, "mentions") {
			m.Mentions = append(m.Mentions, strings.Repeat("u", 60)+fmt.Sprint(n))
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
		if got := robot.Messages()[0]; strings.Contains(got.Text, `\u003c`) {
			t.Fatalf("HTML escapes in %q", got.Text)
		}
	})
}

// What is too long is cut to the limit and not far below it, and what stands beside
// it keeps within bounds of its own.
func TestALongMessageFillsTheRoom(t *testing.T) {
	for name, c := range map[string]struct {
		m    notify.Message
		most int
	}{
		"card":     {chinese(), 20_000},
		"markdown": {with(chinese(), func(m *notify.Message) { m.Actions = nil }), 20_000},
		"text":     {with(chinese(), func(m *notify.Message) { m.Markdown = "" }), 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			robot := dingtalktest.New(token, secret, clock, t.Errorf)
			m := c.m
			m.Plain = strings.Repeat("a", 30_000)
			if m.Markdown != "" {
				m.Markdown = m.Plain
			}
			m.Mentions = nil
			for n := range 60 {
				m.Mentions = append(m.Mentions, fmt.Sprint("user", n))
			}
			for range m.Actions {
				m.Actions = append(m.Actions, notify.Action{Label: "x", URL: "https://c.example/" + strings.Repeat("x", 1500)})
			}
			if v := open(t, options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot})).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Fatalf("verdict %+v", v)
			}
			if size := len(robot.Bodies()[0]); size > c.most || size < c.most-20 {
				t.Errorf("the body has %d bytes, want nearly %d", size, c.most)
			}
			got := robot.Messages()[0]
			if n := len(got.AtUserIDs); n != 50 {
				t.Errorf("%d are mentioned, want 50", n)
			}
			if n := len(got.Buttons); n != len(c.m.Actions) && m.Markdown != "" {
				t.Errorf("%d buttons, want %d: an address was too long", n, len(c.m.Actions))
			}
		})
	}
}
