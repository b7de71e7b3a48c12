package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"curfew/notify"
)

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 10

// openBot gives a channel, or what is wrong and what would be right.
func openBot(o notify.Options, token, to string) (c notify.Channel, problem string) {
	base := notify.WebURL(apiURL)
	if o.BaseURL != "" {
		base = notify.WebURL(o.BaseURL)
	}
	switch {
	case strings.HasPrefix(token, "xapp-"):
		return nil, "bot_token is an app-level token; give the bot's own, which begins with xoxb-"
	case strings.HasPrefix(token, "https://"):
		return nil, "bot_token is an address; give the bot's token, which begins with xoxb-, or the address as webhook"
	case !regexp.MustCompile(`^xoxb-[0-9A-Za-z-]+$`).MatchString(token):
		return nil, "bot_token is not a bot's token; give one that begins with xoxb-"
	case to == "":
		return nil, "no channel; give channel: and the id of one, such as C0123456789, at the end of the channel's details"
	case !regexp.MustCompile(`^([CDGUW][0-9A-Z]{2,}|#?[\p{Ll}\p{Lo}\p{N}._-]{1,80})$`).MatchString(to):
		return nil, fmt.Sprintf("channel %q is neither an id nor a name; give one like C0123456789 or \"#alerts\"", to)
	case base == nil:
		return nil, "base_url is not a web address; leave it out, or give the one that stands in for " + apiURL
	case o.HTTP == nil:
		return nil, "no HTTP client"
	}
	app := o.Credential["app_token"]
	if app != "" && o.Proxy.URL != nil && o.Proxy.URL.Scheme == "https" {
		return nil, "Socket Mode, which app_token is for, goes through no https:// proxy; give an http:// or socks5:// one"
	}
	api := slack.New(token,
		slack.OptionAPIURL(strings.TrimSuffix(base.String(), "/")+"/"),
		slack.OptionHTTPClient(client{o.HTTP}),
		slack.OptionAppLevelToken(app),
	)
	secrets := []string{token, strings.TrimPrefix(token, "xoxb-")}
	if app != "" {
		secrets = append(secrets, app, strings.TrimPrefix(app, "xapp-"))
	}
	return bot{api: api, to: to, redact: notify.Poster{Secrets: secrets}.Redact, proxy: o.Proxy, hears: fingerprint(base.Host, app)}, ""
}

// bot is a member of the workspace that posts by chat.postMessage.
type bot struct {
	api    *slack.Client
	to     string
	redact func(notify.Verdict) notify.Verdict
	proxy  notify.Proxy
	hears  string // the same for all channels of one app; empty: it cannot hear
}

// Send posts one message, in blocks or, where those were refused, as text alone and in
// no thread.
func (b bot) Send(ctx context.Context, m notify.Message) notify.Verdict {
	p := compose(m, true)
	options := []slack.MsgOption{
		slack.MsgOptionText(p.Text, false), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
	if p.Blocks != nil {
		options = append(options, slack.MsgOptionBlocks(p.Blocks...))
	}
	if ts := b.thread(m); ts != "" {
		options = append(options, slack.MsgOptionTS(ts))
	}
	channel, ts, err := b.api.PostMessageContext(ctx, b.to, options...)
	return b.redact(judgeBot(channel, ts, err))
}

// thread gives the timestamp of the message that is answered, where it stands in the
// channel that is posted to. A channel given by name cannot be compared.
func (b bot) thread(m notify.Message) string {
	channel, ts, _ := strings.Cut(m.ReplyTo, ":")
	named := !regexp.MustCompile(`^[CDG][0-9A-Z]{2,}$`).MatchString(b.to)
	if m.Markdown == "" || !isTimestamp(ts) || (!named && channel != b.to) {
		return ""
	}
	return ts
}

func isTimestamp(s string) bool { return regexp.MustCompile(`^\d+(\.\d+)?$`).MatchString(s) }

// judgeBot reads Slack's answer to chat.postMessage, which comes with 200 whatever it
// says. The words are those of Slack's reference of the method, of which some are
// older than this package.
//
//	ok with a timestamp     taken
//	a word on the message   once more as text, in no thread
//	a word on the sender    the token, the channel or a permission is gone
//	a word on Slack itself  tried again
//	429, rate_limited       too fast: wait as long as it says
//	other words             not known: never success, tried a few times
//	anything else           a gateway, a captive portal: the same
func judgeBot(channel, ts string, err error) notify.Verdict {
	if lost, ok := errors.AsType[unanswered](err); ok {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: "network", Detail: lost.Error()}
	}
	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return notify.Verdict{Kind: notify.VerdictRetry, After: bounded(limited.RetryAfter), Code: "http 429"}
	}
	if said, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return judgeWord(said.Err)
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		v := notify.Verdict{Code: "http " + strconv.Itoa(status.Code)}
		switch {
		case status.Code == http.StatusTooManyRequests:
			v.Kind, v.After = notify.VerdictRetry, time.Minute
		case status.Code >= http.StatusInternalServerError:
			v.Kind = notify.VerdictRetry
		default:
			v.Detail = notSlack
		}
		return v
	}
	if err == nil && isTimestamp(ts) && channel != "" {
		return notify.Verdict{Kind: notify.VerdictOK, Code: "ok", Ref: channel + ":" + ts}
	}
	return notify.Verdict{Code: "http 200", Detail: notSlack}
}

// judgeWord reads one word of Slack's that is no success.
func judgeWord(word string) notify.Verdict {
	v := notify.Verdict{Code: word}
	switch word {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text",
		"too_many_attachments", "invalid_arguments", "invalid_arg_name", "invalid_form_data", "invalid_charset",
		"cannot_reply_to_message", "thread_not_found", "message_not_found", "invalid_thread_ts",
		"restricted_action_non_threadable_channel", "restricted_action_thread_locked":
		v.Kind = notify.VerdictBadMessage
	case "not_authed", "invalid_auth", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type",
		"no_permission", "access_denied", "accesslimited", "ekm_access_denied", "org_login_required",
		"enterprise_is_restricted", "team_access_not_granted", "as_user_not_supported", "is_archived",
		"restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel":
		v.Kind, v.Detail = notify.VerdictPermanent, "is the app still installed, and may it write to the channel?"
	case "missing_scope":
		v.Kind, v.Detail = notify.VerdictPermanent, "give the app the scope chat:write and install it again"
	case "not_in_channel", "channel_not_found":
		v.Kind, v.Detail = notify.VerdictPermanent, "invite the app to the channel; is channel its id?"
	case "rate_limited", "ratelimited", "message_limit_exceeded":
		v.Kind, v.After = notify.VerdictRetry, time.Minute
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org":
		v.Kind = notify.VerdictRetry
	}
	return v
}

// unanswered is a request that got no answer that could be read.
type unanswered struct{ error }

// client keeps an answer short, tells a lost one from a strange one, and takes the
// address out of errors.
type client struct{ http *http.Client }

// Do sends one request and reads its answer whole.
func (c client) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, unanswered{err}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, unanswered{fmt.Errorf("read the answer: %w", err)}
	}
	if _, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil {
		resp.Header.Del("Retry-After") // a date, which the library would stumble over
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	return resp, nil
}
