package slack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"curfew/notify"
)

const (
	// hearTime is for carrying out one press, and answerTime for writing into its message
	// what came of it. Slack shows a press as failed that is not acknowledged within 3 s.
	hearTime   = 15 * time.Second
	answerTime = 10 * time.Second
	// writeBuffer holds a whole answer, in bytes: Slack drops those in several frames.
	writeBuffer = 32 << 10
)

var _ notify.Listener = bot{}

// fingerprint names an app without telling its token; empty: there is none.
func fingerprint(host, token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("slack\x00" + host + "\x00" + token))
	return "slack-" + hex.EncodeToString(sum[:8])
}

// Hears names the app: Slack tells each press to any one of an app's connections.
func (b bot) Hears() string { return b.hears }

// Listen keeps a connection in Socket Mode. The library connects anew when Slack asks
// for it; Listen ends with what it gives up at.
func (b bot) Listen(ctx context.Context, hear notify.Hear) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := socketmode.New(b.api, socketmode.OptionDialer(b.dialer()))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	var answers sync.WaitGroup
	defer answers.Wait()
	var problem error
	for {
		select {
		case err := <-ended:
			return b.lost(outer, cmp.Or(problem, err))
		case event := <-client.Events:
			switch event.Type {
			case socketmode.EventTypeInteractive:
				b.take(ctx, client, event, hear, &answers)
			case socketmode.EventTypeInvalidAuth:
				problem = errors.New("invalid_auth: is app_token right, and has it the scope connections:write?")
				cancel()
			case socketmode.EventTypeConnectionError:
				if e, ok := event.Data.(*slack.ConnectionErrorEvent); ok {
					problem = e.ErrorObj
				}
				cancel() // whoever called waits, and says so
			case socketmode.EventTypeEventsAPI, socketmode.EventTypeSlashCommand:
				if event.Request != nil { // the app is asked for what curfew does not do
					_ = client.AckCtx(ctx, event.Request.EnvelopeID, nil)
				}
			}
		}
	}
}

// dialer is the library's own, with another way out.
func (b bot) dialer() *websocket.Dialer {
	return &websocket.Dialer{Proxy: b.proxy.For, HandshakeTimeout: answerTime, WriteBufferSize: writeBuffer}
}

// lost tells why nothing is heard any more, without secrets.
func (b bot) lost(ctx context.Context, err error) error {
	if gone := ctx.Err(); gone != nil || err == nil {
		return gone
	}
	v := b.redact(notify.Verdict{Detail: err.Error()})
	return fmt.Errorf("slack: listen in Socket Mode: %s", v.Detail)
}

// take carries out one press, and acknowledges it once that is certain. One that is not
// acknowledged is shown as failed to who pressed, and can be pressed again.
func (b bot) take(ctx context.Context, client *socketmode.Client, event socketmode.Event, hear notify.Hear, answers *sync.WaitGroup) {
	pressed, ok := event.Data.(slack.InteractionCallback)
	if !ok || event.Request == nil {
		return
	}
	var said notify.Heard
	for _, action := range pressed.ActionCallback.BlockActions {
		if pressed.Type != slack.InteractionTypeBlockActions || action == nil || action.BlockID != buttonsID || action.Value == "" {
			continue
		}
		var err error
		if said, err = b.hear(ctx, pressed.User, action.Value, hear); err != nil {
			return
		}
	}
	if client.AckCtx(ctx, event.Request.EnvelopeID, nil) == nil && said.Words != "" {
		answers.Go(func() { b.answer(ctx, pressed, said) })
	}
}

func (b bot) hear(ctx context.Context, who slack.User, value string, hear notify.Hear) (notify.Heard, error) {
	ctx, cancel := context.WithTimeout(ctx, hearTime)
	defer cancel()
	return hear(ctx, notify.Press{Value: value, User: who.ID, Name: name(who)})
}

// name is what people call somebody.
func name(who slack.User) string {
	for _, s := range []string{who.Profile.DisplayName, who.RealName, who.Name} {
		if s != "" {
			return s
		}
	}
	return who.ID
}

// answer writes what came of a press into its message, in place of the buttons, or
// tells it to the one who pressed. Nothing hangs on it.
func (b bot) answer(ctx context.Context, pressed slack.InteractionCallback, said notify.Heard) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	words := shorten(said.Words, maxSection, escape)
	channel, ts := pressed.Channel.ID, pressed.Message.Timestamp
	if channel == "" {
		channel = pressed.Container.ChannelID
	}
	if ts == "" {
		ts = pressed.Container.MessageTs
	}
	if !said.Settled || ts == "" {
		_, _ = b.api.PostEphemeralContext(ctx, channel, pressed.User.ID, slack.MsgOptionText(words, false))
		return
	}
	var blocks []slack.Block
	for _, block := range pressed.Message.Blocks.BlockSet {
		if block.ID() != buttonsID {
			blocks = append(blocks, block)
		}
	}
	blocks = appendSection(blocks, words)
	_, _, _, _ = b.api.UpdateMessageContext(ctx, channel, ts,
		slack.MsgOptionText(shorten(join(pressed.Message.Text, words), maxText, func(s string) string { return s }), false), slack.MsgOptionBlocks(blocks...))
}
