package telegram

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"curfew/notify"
)

// How long Telegram may keep a request for news open before it answers that there are
// none, and how much longer is waited for that.
const (
	pollTime  = 25 * time.Second
	pollGrace = 10 * time.Second
	hearTime  = 20 * time.Second // for one press: to carry it out and to answer it
	// leastPause lies between two requests of which the first had no news.
	leastPause = time.Second
	// maxToast is what an answer that is for the presser alone may hold, in characters.
	maxToast = 200
)

// The methods of a bot that are used.
const (
	sendMessage = "sendMessage"
	getUpdates  = "getUpdates"
	answerQuery = "answerCallbackQuery"
	editText    = "editMessageText"
	editMarkup  = "editMessageReplyMarkup"
)

var _ notify.Listener = channel{}

// fingerprint names a bot without telling its token.
func fingerprint(host, token string) string {
	sum := sha256.Sum256([]byte("telegram\x00" + host + "\x00" + token))
	return "telegram-" + hex.EncodeToString(sum[:8])
}

// Hears names the bot: Telegram gives what it is told to one listener only.
func (c channel) Hears() string { return c.hears }

// update is one piece of news, as far as curfew reads it.
type update struct {
	ID    int64 `json:"update_id"`
	Query *struct {
		ID   string `json:"id"`
		From struct {
			ID        int64  `json:"id"`
			FirstName string `json:"first_name"`
			LastName  string `json:"last_name"`
			Username  string `json:"username"`
		} `json:"from"`
		Message *sentMessage `json:"message"`
		Data    string       `json:"data"`
	} `json:"callback_query"`
}

// sentMessage is a message of the bot in which a button was pressed. One that is old
// comes without its text.
type sentMessage struct {
	ID   int64 `json:"message_id"`
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	Text     string            `json:"text"`
	Entities []json.RawMessage `json:"entities"`
}

// request is what the methods used here are asked with.
type request struct {
	// Of getUpdates.
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit,omitempty"`
	Timeout int      `json:"timeout,omitempty"`
	Allowed []string `json:"allowed_updates,omitempty"`
	// Of answerCallbackQuery.
	Query string `json:"callback_query_id,omitempty"`
	Text  string `json:"text,omitempty"`
	Alert bool   `json:"show_alert,omitempty"`
	// Of editMessageText and editMessageReplyMarkup.
	Chat     int64             `json:"chat_id,omitempty"`
	Message  int64             `json:"message_id,omitempty"`
	Entities []json.RawMessage `json:"entities,omitempty"`
	Preview  *linkPreview      `json:"link_preview_options,omitempty"`
}

// Listen asks for news again and again. A piece of news counts as taken once the next
// are asked for, so one that could not be carried out comes again.
func (c channel) Listen(ctx context.Context, hear notify.Hear) error {
	var offset int64
	for {
		var news []update
		pause := time.NewTimer(leastPause)
		err := c.ask(ctx, getUpdates, request{Offset: offset, Limit: mostNews, Timeout: int(pollTime / time.Second), Allowed: []string{"callback_query"}}, &news)
		if err != nil {
			return fmt.Errorf("telegram: read what the bot was told: %w", err)
		}
		for _, u := range news {
			if err := c.take(ctx, u, hear); err != nil {
				return err
			}
			offset = max(offset, u.ID+1)
		}
		if len(news) == 0 {
			select { // whatever answers at once does not wait for news
			case <-ctx.Done():
			case <-pause.C:
			}
		}
		pause.Stop()
	}
}

// take carries out one piece of news and answers it. An answer that does not arrive
// changes nothing of what was done.
func (c channel) take(ctx context.Context, u update, hear notify.Hear) error {
	q := u.Query
	if q == nil || q.Data == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, hearTime)
	defer cancel()
	name := strings.TrimSpace(q.From.FirstName + " " + q.From.LastName)
	if name == "" {
		name = q.From.Username
	}
	said, err := hear(ctx, notify.Press{Value: q.Data, User: strconv.FormatInt(q.From.ID, 10), Name: name})
	if err != nil {
		return err
	}
	toast := notify.CutRunes(said.Words, maxToast)
	// Without an answer the button shows a clock for a while; that is all.
	_ = c.ask(ctx, answerQuery, request{Query: q.ID, Text: toast, Alert: toast != "" && !said.Settled}, nil)
	if said.Settled && q.Message != nil {
		c.settle(ctx, *q.Message, said.Words)
	}
	return nil
}

// settle writes what came of a press below the message and takes its buttons away;
// where the text cannot be changed any more, the buttons at least.
func (c channel) settle(ctx context.Context, m sentMessage, words string) {
	r := request{Chat: m.Chat.ID, Message: m.ID, Preview: &linkPreview{Disabled: true}}
	below := "\n\n" + quiet(words)
	if room := maxText - len(utf16.Encode([]rune(m.Text))); m.Text != "" && units(below) <= room {
		r.Text, r.Entities = m.Text+below, m.Entities // which say what is bold, by place
		if err := c.ask(ctx, editText, r, nil); err == nil {
			return
		}
	}
	_ = c.ask(ctx, editMarkup, request{Chat: m.Chat.ID, Message: m.ID}, nil)
}

// errRefused is an answer that is no success.
var errRefused = errors.New("refused")

// maxNews is how much of an answer is read, and mostNews how many pieces of news are
// asked for at a time: each holds its message, and what that one answered.
const (
	maxNews  = 4 << 20
	mostNews = 10
)

// ask calls a method of the bot and reads its result into out, if that is not nil.
func (c channel) ask(ctx context.Context, method string, r request, out any) error {
	client := *c.post.HTTP
	client.Timeout = 0 // the context's
	if method == getUpdates {
		client.Timeout = pollTime + pollGrace
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	address := strings.TrimSuffix(c.post.URL, sendMessage) + method
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return c.refused("request", err.Error())
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address, which holds the token
		}
		return errors.Join(c.refused("network", err.Error()), ctx.Err())
	}
	defer resp.Body.Close()
	var said struct {
		OK          bool            `json:"ok"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Result      json.RawMessage `json:"result"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxNews)).Decode(&said)
	switch {
	case err == nil && !said.OK && said.Code != 0:
		return c.refused(strconv.Itoa(said.Code), hint(said.Code)+said.Description)
	case err != nil || !said.OK || resp.StatusCode != http.StatusOK:
		return c.refused("http "+strconv.Itoa(resp.StatusCode), "the answer is not Telegram's; is something between here and Telegram?")
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(said.Result, out); err != nil {
		return c.refused("result", "the answer is not Telegram's")
	}
	return nil
}

// refused is an error that tells no secret.
func (c channel) refused(code, words string) error {
	v := c.post.Redact(notify.Verdict{Code: code, Detail: words})
	return fmt.Errorf("%w: %s: %s", errRefused, v.Code, v.Detail)
}

// hint says what to do about a code that only those get who listen.
func hint(code int) string {
	if code == http.StatusConflict {
		return "another program reads what this bot is told, or it has a webhook; give curfew a bot of its own: "
	}
	return ""
}
