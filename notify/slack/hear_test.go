package slack_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack/slacktest"

	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/slack"
)

const appToken = "xapp-1-A0123-456-abcdef"

// wired is a workspace to which the bot is connected in Socket Mode.
type wired struct {
	server *slacktest.Server
	calls  chan string // what was written where, but for the connection itself
}

func newWired(t *testing.T) *wired {
	t.Helper()
	w := &wired{calls: make(chan string, 10)}
	note := func(method string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			v, err := url.ParseQuery(string(body))
			if err != nil || v.Get("token") != token {
				t.Errorf("%s with %s: %v", method, body, err)
			}
			w.calls <- method + " " + v.Get("channel") + " " + v.Get("ts") + v.Get("user") + " " + v.Get("text") + " " + v.Get("blocks")
			_, _ = io.WriteString(rw, `{"ok":true,"channel":"C0123456789","ts":"1790000000.000100","message_ts":"1","text":""}`)
		}
	}
	w.server = slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.update", note("chat.update"))
		c.Handle("/chat.postEphemeral", note("chat.postEphemeral"))
	})
	w.server.Start()
	t.Cleanup(w.server.Stop)
	return w
}

func (w *wired) open(t *testing.T) notify.Listener {
	t.Helper()
	c, err := slack.Kind().Open(w.options())
	if err != nil {
		t.Fatal(err)
	}
	return c.(notify.Listener)
}

func (w *wired) options() notify.Options {
	return notify.Options{
		Name: "lab", BaseURL: strings.TrimSuffix(w.server.GetAPIURL(), "/"), HTTP: notifytest.Client(),
		Credential: map[string]string{"bot_token": token, "app_token": appToken}, Settings: map[string]string{"channel": "C0123456789"},
	}
}

// press is what Slack sends when somebody presses a button of a message.
func press(envelope, block, value string) string {
	return `{"envelope_id":"` + envelope + `","type":"interactive","accepts_response_payload":true,"payload":{"type":"block_actions",` +
		`"user":{"id":"U1","username":"wang","name":"wang","team_id":"T1"},"container":{"type":"message","message_ts":"1790000000.000100","channel_id":"C0123456789"},` +
		`"channel":{"id":"C0123456789","name":"lab"},"message":{"type":"message","ts":"1790000000.000100","text":"Will stop exp","blocks":[` +
		`{"type":"header","block_id":"h","text":{"type":"plain_text","text":"Will stop exp","emoji":false}},` +
		`{"type":"section","block_id":"s","text":{"type":"mrkdwn","text":"running","verbatim":true}},` +
		`{"type":"actions","block_id":"curfew","elements":[{"type":"button","action_id":"curfew-1","text":{"type":"plain_text","text":"Hold 1h"},"value":"v1"}]}]},` +
		`"actions":[{"type":"button","action_id":"curfew-1","block_id":"` + block + `","value":"` + value + `","text":{"type":"plain_text","text":"Hold 1h"},"action_ts":"1"}]}}`
}

// acknowledged waits until Slack was told that a press was taken, and gives what it was
// told before that.
func (w *wired) acknowledged(t *testing.T, envelope string) (before []string) {
	t.Helper()
	for {
		select {
		case m := <-w.server.SeenFeed:
			if m == `{"envelope_id":"`+envelope+`"}` {
				return before
			}
			before = append(before, m)
		case <-t.Context().Done():
			return before
		}
	}
}

func TestAPressIsHeardOverSocketModeAndWrittenIntoTheMessage(t *testing.T) {
	w := newWired(t)
	ctx, cancel := context.WithCancel(t.Context())
	done, heard := make(chan error, 1), make(chan notify.Press, 10)
	go func() {
		done <- w.open(t).Listen(ctx, func(_ context.Context, p notify.Press) (notify.Heard, error) {
			heard <- p
			if p.Value == "other" {
				return notify.Heard{Words: "you may not"}, nil
			}
			return notify.Heard{Words: "held for <wang> until 05:00", Settled: true}, nil
		})
	}()
	w.server.SendToWebsocket(press("env-1", "curfew", "v1"))
	if diff := cmp.Diff(notify.Press{Value: "v1", User: "U1", Name: "wang"}, <-heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	w.acknowledged(t, "env-1")
	got := <-w.calls
	for _, want := range []string{"chat.update C0123456789 1790000000.000100 Will stop exp", "held for &lt;wang&gt; until 05:00", `"type":"header"`, "running"} {
		if !strings.Contains(got, want) {
			t.Errorf("the update lacks %q: %s", want, got)
		}
	}
	if strings.Contains(got, `"actions"`) || strings.Contains(got, "v1") {
		t.Errorf("the buttons stay: %s", got)
	}
	w.server.SendToWebsocket(press("env-2", "curfew", "other"))
	if got := <-w.calls; got != "chat.postEphemeral C0123456789 U1 you may not " {
		t.Errorf("who may not is told by %q", got)
	}
	<-heard
	w.server.SendToWebsocket(press("env-3", "of another app", "v1"))
	w.acknowledged(t, "env-3")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	select {
	case p := <-heard:
		t.Errorf("what is no button of curfew's is heard: %+v", p)
	case c := <-w.calls:
		t.Errorf("and answered: %s", c)
	default:
	}
}

func TestAPressThatIsNotCarriedOutIsNotAcknowledged(t *testing.T) {
	w := newWired(t)
	ctx, cancel := context.WithCancel(t.Context())
	done, heard := make(chan error, 1), make(chan struct{}, 1)
	go func() {
		done <- w.open(t).Listen(ctx, func(context.Context, notify.Press) (notify.Heard, error) {
			heard <- struct{}{}
			return notify.Heard{}, errors.New("the disk is full")
		})
	}()
	w.server.SendToWebsocket(press("env-1", "curfew", "v1"))
	<-heard
	w.server.SendToWebsocket(press("env-3", "of another app", "v1"))
	if before := w.acknowledged(t, "env-3"); len(before) > 0 { // which comes after it
		t.Errorf("it is acknowledged: %q", before)
	}
	cancel()
	<-done
}

func TestListeningEndsWithoutTheRightToken(t *testing.T) {
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/apps.connections.open", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+appToken {
				t.Errorf("asked with %q", r.Header.Get("Authorization"))
			}
			_, _ = io.WriteString(w, `{"ok":false,"error":"not_allowed_token_type `+appToken+`"}`)
		})
	})
	server.Start()
	t.Cleanup(server.Stop)
	w := &wired{server: server}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := w.open(t).Listen(ctx, func(context.Context, notify.Press) (notify.Heard, error) { return notify.Heard{}, nil })
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "not_allowed_token_type") {
		t.Errorf("it ends with %v", err)
	}
	notifytest.NoSecret(t, err, token, appToken)
}

func TestWhoHearsWhat(t *testing.T) {
	open := func(app, channel string) notify.Listener {
		credential := map[string]string{"bot_token": token}
		if app != "" {
			credential["app_token"] = app
		}
		c, err := slack.Kind().Open(notify.Options{Name: "lab", HTTP: notifytest.Client(), Credential: credential, Settings: map[string]string{"channel": channel}})
		if err != nil {
			t.Fatal(err)
		}
		return c.(notify.Listener)
	}
	if h := open("", "C0123456789").Hears(); h != "" {
		t.Errorf("a bot without app_token hears %q", h)
	}
	one, two, other := open(appToken, "C0123456789").Hears(), open(appToken, "C99").Hears(), open("xapp-2", "C99").Hears()
	if one == "" || one != two || one == other {
		t.Errorf("they hear %q, %q and %q", one, two, other)
	}
	notifytest.NoSecret(t, one, appToken)
}

func TestAppTokensThatAreRefused(t *testing.T) {
	for name, credential := range map[string]map[string]string{
		"app_token goes with bot_token":       {"webhook": "https://hooks.slack.com/services/T0/B0/abc", "app_token": appToken},
		"app_token is not an app-level token": {"bot_token": token, "app_token": token},
	} {
		_, err := slack.Kind().Open(notify.Options{Name: "lab", HTTP: notifytest.Client(), Credential: credential, Settings: map[string]string{"channel": "C0123456789"}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}
