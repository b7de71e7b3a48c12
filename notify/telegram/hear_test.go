package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/notify"
	"curfew/notify/notifytest"
)

// bot is a strict double of what Telegram does with presses: it gives each until it is
// confirmed, to one listener at a time.
type bot struct {
	t       *testing.T
	mu      sync.Mutex
	pending []string // updates as JSON, the first has number 100
	first   int64
	asked   []string // what was called, and with what
	refuse  map[string]string
	woken   chan struct{}
}

func newBot(t *testing.T, updates ...string) (*bot, notify.Listener) {
	t.Helper()
	b := &bot{t: t, pending: updates, first: 100, refuse: map[string]string{}, woken: make(chan struct{}, 1)}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	l, ok := open(t, server.URL, "-1001234567890", notifytest.Client()).(notify.Listener)
	if !ok {
		t.Fatal("it cannot listen")
	}
	return b, l
}

func (b *bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+token+"/")
	if err != nil || !ok || r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		b.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if refusal := b.refuse[method]; refusal != "" {
		b.asked = append(b.asked, method+" refused")
		http.Error(w, refusal, http.StatusBadRequest)
		return
	}
	if method != "getUpdates" {
		b.edit(method, body)
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
		return
	}
	var q struct {
		Offset  int64    `json:"offset"`
		Limit   int      `json:"limit"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}
	if err := notifytest.Strict(body, &q); err != nil || q.Limit < 1 || q.Limit > 100 || q.Timeout < 1 || q.Timeout > 50 || fmt.Sprint(q.Allowed) != "[callback_query]" {
		b.t.Errorf("getUpdates with %s: %v", body, err)
	}
	for len(b.pending) > 0 && q.Offset > b.first {
		b.pending, b.first = b.pending[1:], b.first+1
	}
	if len(b.pending) == 0 {
		select {
		case b.woken <- struct{}{}:
		default:
		}
	}
	var news []string
	for n, u := range b.pending[:min(len(b.pending), q.Limit)] {
		news = append(news, strings.Replace(u, "{", fmt.Sprintf(`{"update_id":%d,`, b.first+int64(n)), 1))
	}
	_, _ = io.WriteString(w, `{"ok":true,"result":[`+strings.Join(news, ",")+`]}`)
}

// edit checks and notes what is done to a message or said to who pressed.
func (b *bot) edit(method string, body []byte) {
	var into any
	switch method {
	case "answerCallbackQuery":
		into = new(struct {
			ID    string `json:"callback_query_id"`
			Text  string `json:"text"`
			Alert bool   `json:"show_alert"`
		})
	case "editMessageText":
		into = new(struct {
			Chat     int64             `json:"chat_id"`
			Message  int64             `json:"message_id"`
			Text     string            `json:"text"`
			Entities []json.RawMessage `json:"entities"`
			Preview  any               `json:"link_preview_options"`
		})
	case "editMessageReplyMarkup":
		into = new(struct {
			Chat    int64 `json:"chat_id"`
			Message int64 `json:"message_id"`
		})
	default:
		b.t.Errorf("nobody knows the method %s", method)
	}
	if err := notifytest.Strict(body, into); err != nil {
		b.t.Errorf("%s with %s: %v", method, body, err)
	}
	b.asked = append(b.asked, method+" "+string(body))
}

// listen runs the listener until all news are confirmed.
func (b *bot) listen(l notify.Listener, hear notify.Hear) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- l.Listen(ctx, hear) }()
	select {
	case err := <-done:
		return err
	case <-b.woken:
		cancel()
		return <-done
	}
}

const pressed = `{"callback_query":{"id":"q1","from":{"id":42,"is_bot":false,"first_name":"小","last_name":"王","username":"wang"},` +
	`"message":{"message_id":57,"date":1,"chat":{"id":-1001234567890,"type":"supergroup"},"text":"Will stop @exp","entities":[{"type":"bold","offset":0,"length":4}],` +
	`"reply_markup":{"inline_keyboard":[[{"text":"Hold 1h","callback_data":"v1"}]]}},"chat_instance":"1","data":"v1"}}`

func TestAPressIsHeardOnceAnsweredAndWrittenIntoTheMessage(t *testing.T) {
	b, l := newBot(t, pressed, `{"message":{"message_id":1}}`)
	var heard []notify.Press
	err := b.listen(l, func(_ context.Context, p notify.Press) (notify.Heard, error) {
		heard = append(heard, p)
		return notify.Heard{Words: "held for @wang until 05:00", Settled: true}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if diff := cmp.Diff([]notify.Press{{Value: "v1", User: "42", Name: "小 王"}}, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	want := []string{
		`answerCallbackQuery {"callback_query_id":"q1","text":"held for @wang until 05:00"}`,
		`editMessageText {"text":"Will stop @exp\n\nheld for @` + "\u200b" + `wang until 05:00","chat_id":-1001234567890,"message_id":57,` +
			`"entities":[{"type":"bold","offset":0,"length":4}],"link_preview_options":{"is_disabled":true}}`,
	}
	if diff := cmp.Diff(want, b.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestWhoMayNotIsToldAloneAndTheMessageStays(t *testing.T) {
	b, l := newBot(t, pressed)
	_ = b.listen(l, func(context.Context, notify.Press) (notify.Heard, error) {
		return notify.Heard{Words: "you may not"}, nil
	})
	if diff := cmp.Diff([]string{`answerCallbackQuery {"callback_query_id":"q1","text":"you may not","show_alert":true}`}, b.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestWhereTheTextCannotBeChangedTheButtonsGo(t *testing.T) {
	for name, change := range map[string]func(*bot){
		"it is refused": func(b *bot) {
			b.refuse["editMessageText"] = `{"ok":false,"error_code":400,"description":"Bad Request: message can't be edited"}`
		},
		"it is too old to have a text": func(b *bot) { b.pending[0] = strings.Replace(b.pending[0], `"text":"Will stop @exp",`, "", 1) },
		"there is no room for the words": func(b *bot) {
			b.pending[0] = strings.Replace(b.pending[0], "Will stop @exp", strings.Repeat("猫", 4090), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, l := newBot(t, pressed)
			change(b)
			_ = b.listen(l, func(context.Context, notify.Press) (notify.Heard, error) {
				return notify.Heard{Words: "held until 05:00", Settled: true}, nil
			})
			if got := b.asked[len(b.asked)-1]; got != `editMessageReplyMarkup {"chat_id":-1001234567890,"message_id":57}` {
				t.Errorf("the last call is %s", got)
			}
		})
	}
}

func TestWhatCouldNotBeCarriedOutComesAgain(t *testing.T) {
	b, l := newBot(t, pressed)
	broken := errors.New("the disk is full")
	tries := 0
	hear := func(context.Context, notify.Press) (notify.Heard, error) {
		if tries++; tries == 1 {
			return notify.Heard{}, broken
		}
		return notify.Heard{Words: "held", Settled: true}, nil
	}
	if err := b.listen(l, hear); !errors.Is(err, broken) || len(b.asked) != 0 {
		t.Fatalf("ends with %v after %q", err, b.asked)
	}
	if err := b.listen(l, hear); !errors.Is(err, context.Canceled) || tries != 2 || len(b.asked) != 2 {
		t.Errorf("ends with %v after %d tries and %q", err, tries, b.asked)
	}
}

func TestListeningEndsWithWhatTelegramSays(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"another listener":     {`{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}`, "give curfew a bot of its own"},
		"a gateway":            {"<html>", "not Telegram's"},
		"the token in answers": {`{"ok":false,"error_code":404,"description":"no ` + path + `"}`, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			b, l := newBot(t)
			b.refuse["getUpdates"] = c.answer
			err := b.listen(l, func(context.Context, notify.Press) (notify.Heard, error) { return notify.Heard{}, nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			notifytest.NoSecret(t, err, token, secret)
		})
	}
}

func TestChannelsOfOneBotAreKnownByIt(t *testing.T) {
	one := open(t, "https://api.telegram.org", "1", notifytest.Client()).(notify.Listener).Hears()
	two := open(t, "https://api.telegram.org", "2", notifytest.Client()).(notify.Listener).Hears()
	relay := open(t, "https://relay.example", "1", notifytest.Client()).(notify.Listener).Hears()
	if one == "" || one != two || one == relay {
		t.Errorf("they hear %q, %q and %q", one, two, relay)
	}
	notifytest.NoSecret(t, one, token, secret)
}
