package notify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/console"
	"curfew/notify/notifytest"
	"curfew/notify/wecom"
)

func usd(micros int64) *fleet.Price {
	return &fleet.Price{PerHour: fleet.Money{Micros: micros, Currency: "USD"}, Source: fleet.PriceProvider}
}

func TestATallyKeepsCurrenciesApartAndAnUnknownPriceIsNotZero(t *testing.T) {
	var tally notify.Tally
	for _, cost := range []*fleet.Price{usd(500_000), new(hourly(1_980_000)), {}, usd(250_000), nil} {
		tally.Add(cost)
	}
	want := fleet.Values{"count": fleet.Number(5), "rate": fleet.Text("1.98 CNY + 0.75 USD"), "unpriced": fleet.Number(1)}
	if diff := cmp.Diff(want, tally.Values(), cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var none notify.Tally
	none.Add(&fleet.Price{})
	if _, told := none.Values()["rate"]; told {
		t.Error("what has no price has a rate")
	}
}

// many is a section of so many things.
func many(head string, n int, name string) notify.Section {
	s := notify.Section{Head: said(head), Foot: said("do something")}
	for k := range n {
		cost := new(hourly(1_000_000))
		if k%5 == 4 {
			cost = &fleet.Price{}
		}
		s.Add(notify.Item{Text: said(fmt.Sprintf("%s-%d", name, k)), Cost: cost, Command: "curfew approve 12"})
	}
	return s
}

func morning(sections ...notify.Section) notify.Notice {
	return notify.Notice{
		Event: notify.EventDigest, Severity: fleet.Info, Category: fleet.CategoryDigest, At: now,
		Reason: said("4 running"), Sections: sections,
	}
}

func TestADigestOutlivesTheOutbox(t *testing.T) {
	n := morning(many("head", 30, "exp"))
	data, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	var back notify.Notice
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(n, back, cmp.AllowUnexported(fleet.Value{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-sent +read):\n%s", diff)
	}
}

func TestWhatADigestLeavesOutIsCountedAndSummed(t *testing.T) {
	const n = 200
	m := notify.Render(morning(many("head", n, "exp-with-a-name")), renderer(t, text.English), now)
	shown := strings.Count(m.Plain, "exp-with-a-name-")
	if shown < 5 || shown > 10 {
		t.Fatalf("%d things are shown:\n%s", shown, m.Plain)
	}
	unpriced := 0
	for k := shown; k < n; k++ {
		if k%5 == 4 {
			unpriced++
		}
	}
	left := n - shown
	want := fmt.Sprintf("· and %d more, %d.00 CNY/h together, %d of them of unknown price\n", left, left-unpriced, unpriced)
	if !strings.Contains(m.Plain, want) {
		t.Errorf("it does not say %q:\n%s", want, m.Plain)
	}
}

func TestADigestFitsEveryChannelAndShowsSomethingOfEverySection(t *testing.T) {
	renderers := []*text.Renderer{renderer(t, text.English), renderer(t, text.Chinese)}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringOfN(rapid.SampledFrom([]rune("aZ9 -_.*`<>[]()#@\n\t\x1b\u202e训练实例🙂'\"")), 1, 300, -1)
		var sections []notify.Section
		for k := range rapid.IntRange(0, 5).Draw(t, "sections") {
			sections = append(sections, many(fmt.Sprintf("part%d", k), rapid.IntRange(0, 60).Draw(t, "things"), fmt.Sprintf("first%d", k)+words.Draw(t, "name")))
		}
		n := morning(sections...)
		n.Reason = said(words.Draw(t, "title"))
		m := notify.Render(n, rapid.SampledFrom(renderers).Draw(t, "language"), now)
		if size := len(m.Title) + 1 + len(m.Plain); size > 2048 {
			t.Fatalf("%d bytes of words:\n%s", size, m.Plain)
		}
		if size := len(notify.Escape(m.Title)) + len(m.Markdown); size > 4096-64 || !utf8.ValidString(m.Markdown) {
			t.Fatalf("%d bytes of Markdown", size)
		}
		for k, s := range sections {
			if !strings.Contains(m.Plain, fmt.Sprintf("part%d", k)) || len(s.Items) > 0 && !strings.Contains(m.Plain, fmt.Sprintf("first%d", k)) {
				t.Fatalf("section %d is missing:\n%s", k, m.Plain)
			}
		}
		if strings.ContainsAny(m.Title+m.Plain+m.Markdown, "\x1b\u202e") || strings.Contains(m.Title, "\n") {
			t.Fatalf("control characters got through: %q", m.Title+m.Plain)
		}
	})
}

// What arrives at a terminal and in a WeCom group.
func TestADigestAsChannelsShowIt(t *testing.T) {
	value := func(kv ...string) fleet.Values {
		v := fleet.Values{}
		for k := 0; k < len(kv); k += 2 {
			v[kv[k]] = fleet.Text(kv[k+1])
		}
		return v
	}
	accounts := notify.Section{Head: fleet.Because("digest.by-account", nil)}
	for _, v := range []fleet.Values{value("account", "autodl-lab", "count", "3", "rate", "5.94 CNY"), value("account", "ali", "count", "1", "unpriced", "1")} {
		accounts.Add(notify.Item{Text: fleet.Because("digest.account", v)})
	}
	unguarded := notify.Section{Head: fleet.Because("digest.unguarded", value("count", "22")), Foot: fleet.Because("digest.guard", nil)}
	for k := range 22 {
		v := value("name", fmt.Sprintf("wang-%02d", k), "account", "autodl-lab", "cost", "12.40 CNY", "rate", "1.98 CNY", "since", "19:51")
		cost := new(hourly(1_980_000))
		if k == 2 {
			v, cost = value("name", "<@all>", "account", "ali", "protected", "protected"), &fleet.Price{}
		}
		unguarded.Add(notify.Item{Text: fleet.Because("digest.unguarded-one", v), Cost: cost})
	}
	needs := notify.Section{Head: fleet.Because("digest.needs", nil)}
	stop := fleet.Nested(fleet.Because("action.stop", nil))
	approval, failed := value("name", "exp-7"), value("name", "exp-8", "why", "no right to stop")
	approval["action"], failed["action"], failed["at"] = stop, stop, fleet.Moment(now.Add(-3*60*60*1e9))
	needs.Add(notify.Item{Text: fleet.Because("digest.approval", approval), Command: "curfew approve 12"})
	needs.Add(notify.Item{Text: fleet.Because("digest.failed", failed)})
	n := morning(
		notify.Section{Head: fleet.Because("digest.period", fleet.Values{"since": fleet.Moment(now.Add(-24 * 60 * 60 * 1e9)), "at": fleet.Moment(now)})},
		accounts, unguarded, needs)
	n.Reason = fleet.Because("digest.running", value("count", "4", "rate", "5.94 CNY", "unpriced", "1", "unguarded", "22"))
	quiet := morning(n.Sections[0])
	quiet.Reason = fleet.Because("digest.quiet", nil)

	for name, n := range map[string]notify.Notice{"full": n, "quiet": quiet} {
		for _, lang := range []text.Language{text.English, text.Chinese} {
			t.Run(name+"."+string(lang), func(t *testing.T) {
				m := notify.Render(n, renderer(t, lang), now)
				var out strings.Builder
				term, err := console.Kind().Open(notify.Options{Name: "term", Out: &out})
				if err != nil {
					t.Fatal(err)
				}
				if v := term.Send(t.Context(), m); v.Kind != notify.VerdictOK {
					t.Errorf("console: %+v", v)
				}
				notifytest.Golden(t, *update, "digest/"+name+"."+string(lang)+".console.txt", out.String())
				notifytest.Golden(t, *update, "digest/"+name+"."+string(lang)+".wecom.txt", wecomShows(t, m))
			})
		}
	}
}

// wecomShows sends to a strict double of WeCom and gives the text that it got.
func wecomShows(t *testing.T, m notify.Message) string {
	t.Helper()
	type payload struct {
		MsgType  string `json:"msgtype"`
		Markdown struct {
			Content string `json:"content"`
		} `json:"markdown"`
	}
	var got payload
	server := notifytest.NewServer(t, notifytest.Expect{
		Method: "POST", Path: "/cgi-bin/webhook/send", Query: map[string][]string{"key": {"K"}}, ContentType: "application/json",
		Body: func() any { return new(payload) },
		Check: func(body any) error {
			got = *body.(*payload)
			if got.MsgType != "markdown" || len(got.Markdown.Content) > 4096 {
				return fmt.Errorf("%s of %d bytes", got.MsgType, len(got.Markdown.Content))
			}
			return nil
		},
	}, notifytest.Reply{Body: `{"errcode":0,"errmsg":"ok"}`})
	c, err := wecom.Kind().Open(notify.Options{Name: "wx", BaseURL: server.URL, Credential: map[string]string{"key": "K"}, HTTP: notifytest.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("wecom: %+v", v)
	}
	return got.Markdown.Content + "\n"
}
