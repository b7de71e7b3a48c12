package slack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/slacktest"
	"pgregory.net/rapid"

	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/slack"
)

const token = "xoxb-" + "1-2-aSecretThatIsNone"

func openBot(t testing.TB, baseURL, channel string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := slack.Kind().Open(notify.Options{
		Name: "lab", BaseURL: baseURL, HTTP: client,
		Credential: map[string]string{"bot_token": token}, Settings: map[string]string{"channel": channel},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// actions are what a reader could say: by a button, by a link, by either, by neither.
func actions() []notify.Action {
	return []notify.Action{
		{Label: "Wait 2h", Value: "hold-12", URL: "https://curfew.lab/a?id=12&t=x"},
		{Label: "Open <it>", URL: "https://curfew.lab/i/12"},
		{Label: "Nothing"},
		{Label: "Now", Value: "now-12", Risky: true},
	}
}

func drawActions(t *rapid.T) []notify.Action {
	all := rapid.SliceOfN(rapid.SampledFrom(actions()), 0, 30).Draw(t, "actions")
	for i := range all {
		all[i].Label += strings.Repeat("长&", rapid.IntRange(0, 60).Draw(t, "label"))
		all[i].Value += strings.Repeat("v", rapid.IntRange(0, 2500).Draw(t, "value"))
	}
	return all
}

func people(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"U012AB3CD", "W09", "<!here>", "S012"}), 0, 40).Draw(t, "mentions")
}

const taken = `{"ok":true,"channel":"C0TEST","ts":"1790000000.000100","message":{"text":"x"}}`

func TestBotPosts(t *testing.T) {
	full := message()
	full.Actions, full.Mentions, full.Thread, full.ReplyTo = actions(), []string{"U012AB3CD", "wang"}, "i-1", "C0TEST:1780000000.000200"
	elsewhere := message()
	elsewhere.ReplyTo = "C0OTHER:1780000000.000200"
	nonsense := message()
	nonsense.ReplyTo = "no timestamp"
	text := full
	text.Markdown = ""
	for name, m := range map[string]notify.Message{"plain": message(), "full": full, "text": text, "elsewhere": elsewhere, "nonsense": nonsense} {
		t.Run(name, func(t *testing.T) {
			base, seen := workspace(t, says(200, nil, taken))
			v := openBot(t, base, "C0TEST", notifytest.Client()).Send(t.Context(), m)
			if want := (notify.Verdict{Kind: notify.VerdictOK, Code: "ok", Ref: "C0TEST:1790000000.000100"}); v != want {
				t.Errorf("verdict %+v, want %+v", v, want)
			}
			got, err := json.MarshalIndent(seen()[0], "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			notifytest.Golden(t, *update, "bot-"+name+".json", string(got)+"\n")
		})
	}
}

// A channel that is given by its name cannot be compared with the one of a thread.
func TestBotAnswersInAChannelByName(t *testing.T) {
	base, seen := workspace(t, says(200, nil, taken))
	m := message()
	m.ReplyTo = "C0TEST:1780000000.000200"
	openBot(t, base, "#alerts", notifytest.Client()).Send(t.Context(), m)
	if got := seen()[0].Fields; got["thread_ts"] != "1780000000.000200" || got["channel"] != "#alerts" {
		t.Errorf("fields %v", got)
	}
}

// The library's own double takes the message as well.
func TestBotOnTheLibrarysDouble(t *testing.T) {
	server := slacktest.NewTestServer()
	server.Start()
	t.Cleanup(server.Stop)
	m := message()
	m.Actions = actions()
	v := openBot(t, server.GetAPIURL(), "C0TEST", notifytest.Client()).Send(t.Context(), m)
	if v.Kind != notify.VerdictOK || !strings.HasPrefix(v.Ref, "C0TEST:") {
		t.Errorf("verdict %+v", v)
	}
}

func TestBotAnswers(t *testing.T) {
	no := func(word string) http.HandlerFunc { return says(200, nil, `{"ok":false,"error":"`+word+`"}`) }
	after := func(s string) http.Header { return http.Header{"Retry-After": {s}} }
	type row struct {
		answer http.HandlerFunc
		want   notify.Verdict
	}
	rows := map[string]row{
		"ok is success":                             {says(200, nil, taken), notify.Verdict{Kind: notify.VerdictOK, Code: "ok", Ref: "C0TEST:1790000000.000100"}},
		"ok without a timestamp is unknown":         {says(200, nil, `{"ok":true,"channel":"C0TEST"}`), notify.Verdict{Code: "http 200"}},
		"no and no word is unknown":                 {says(200, nil, `{"ok":false}`), notify.Verdict{Code: "http 200"}},
		"a word nobody knows is unknown":            {no("brand_new"), notify.Verdict{Code: "brand_new"}},
		"429 waits as long as it says":              {says(429, after("30"), `{"ok":false,"error":"ratelimited"}`), notify.Verdict{Kind: notify.VerdictRetry, After: 30 * time.Second, Code: "http 429"}},
		"429 for years waits an hour":               {says(429, after("999999999"), ""), notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour, Code: "http 429"}},
		"429 for nothing waits a minute":            {says(429, after("0"), ""), notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		"429 that says nothing waits a minute":      {says(429, nil, ""), notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		"429 until a date waits a minute":           {says(429, after("Tue, 01 Dec 2026 04:00:00 GMT"), ""), notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		"a broken gateway is tried again":           {says(502, nil, "<html>"), notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		"a page instead of an answer is unknown":    {says(200, nil, "<html>log in</html>"), notify.Verdict{Code: "http 200"}},
		"an empty answer is unknown":                {says(200, nil, ""), notify.Verdict{Code: "http 200"}},
		"another platform's success is unknown":     {says(200, nil, `{"errcode":0}`), notify.Verdict{Code: "http 200"}},
		"a proxy's 403 is unknown":                  {says(403, nil, "Forbidden"), notify.Verdict{Code: "http 403"}},
		"a redirect is not followed":                {says(302, http.Header{"Location": {"/elsewhere"}}, ""), notify.Verdict{Code: "http 302"}},
		"an answer that never ends is read no more": {says(200, nil, strings.Repeat("x", 1<<20)), notify.Verdict{Code: "http 200"}},
		"a cut connection is tried again":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		"an answer cut short is tried again": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"ok":`)
		}, notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		"the token in an answer is not passed on": {no("bad " + token), notify.Verdict{Code: "bad <secret>"}},
	}
	for kind, words := range map[notify.Verdict][]string{
		{Kind: notify.VerdictBadMessage}: {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text",
			"too_many_attachments", "invalid_arguments", "invalid_arg_name", "invalid_form_data", "invalid_charset",
			"cannot_reply_to_message", "thread_not_found", "restricted_action_non_threadable_channel"},
		{Kind: notify.VerdictPermanent}: {"not_authed", "invalid_auth", "account_inactive", "token_revoked", "no_permission",
			"missing_scope", "channel_not_found", "not_in_channel", "is_archived", "restricted_action", "restricted_action_read_only_channel",
			"restricted_action_thread_only_channel", "ekm_access_denied", "org_login_required", "as_user_not_supported"},
		{Kind: notify.VerdictRetry}:                     {"fatal_error", "internal_error", "service_unavailable", "request_timeout", "team_added_to_org"},
		{Kind: notify.VerdictRetry, After: time.Minute}: {"rate_limited", "ratelimited", "message_limit_exceeded"},
	} {
		for _, word := range words {
			kind.Code = word
			rows[word] = row{no(word), kind}
		}
	}
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			base, _ := workspace(t, c.answer)
			v := openBot(t, base, "C0TEST", notifytest.Client()).Send(t.Context(), message())
			notifytest.NoSecret(t, v, token, strings.TrimPrefix(token, "xoxb-"), base)
			if v.Detail = ""; v != c.want {
				t.Errorf("verdict %+v, want %+v", v, c.want)
			}
		})
	}
}

func TestBotUnreachable(t *testing.T) {
	notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return openBot(t, base, "C0TEST", c) }, "", message(), token)
}

func TestNoMessageOfABotIsTooLongForSlack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := ""
		client := &http.Client{Transport: notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if _, err := read(r); err != nil {
				t.Errorf("%v", err)
			}
			to = r.URL.String()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(taken)), Request: r}, nil
		})}
		c, err := slack.Kind().Open(notify.Options{
			HTTP: client, Credential: map[string]string{"bot_token": token}, Settings: map[string]string{"channel": "alerts"},
		})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<!&>\n` *[](")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 400).Draw(t, name+" times"))
		}
		m := notify.Message{
			Title: "t" + long("title"), Markdown: long("markdown"), Plain: long("plain"),
			Actions: drawActions(t), Mentions: people(t), ReplyTo: rapid.SampledFrom([]string{"", "C1:1.2", "x"}).Draw(t, "reply"),
		}
		if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
		if to != "https://slack.com/api/chat.postMessage" {
			t.Fatalf("posts to %s", to)
		}
	})
}

func TestOpenRefusesABot(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{Name: "lab", HTTP: notifytest.Client(),
			Credential: map[string]string{"bot_token": token}, Settings: map[string]string{"channel": "C0TEST"}}
	}
	notifytest.Refuses(t, slack.Kind(), good, append(secrets(), token), map[string]notifytest.Refusal{
		"no channel":           {func(o *notify.Options) { o.Settings = nil }, "no channel; give channel: and the id"},
		"a channel's address":  {func(o *notify.Options) { o.Settings["channel"] = "https://lab.slack.com/archives/C1" }, "neither an id nor a name"},
		"an app's token":       {func(o *notify.Options) { o.Credential["bot_token"] = "xapp-" + "1-aSecretThatIsNone" }, "app-level token"},
		"a person's token":     {func(o *notify.Options) { o.Credential["bot_token"] = "xoxp-" + "1-aSecretThatIsNone" }, "begins with xoxb-"},
		"an address":           {func(o *notify.Options) { o.Credential["bot_token"] = webhook }, "or the address as webhook"},
		"a token with a space": {func(o *notify.Options) { o.Credential["bot_token"] = token + "\n" }, "begins with xoxb-"},
		"no base":              {func(o *notify.Options) { o.BaseURL = "slack.com" }, "base_url is not a web address"},
		"no client":            {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
	for _, to := range []string{"#alerts", "alerts", "告警", "U012AB3CD"} {
		o := good()
		o.Settings["channel"] = to
		notifytest.Opens(t, slack.Kind(), o)
	}
}
