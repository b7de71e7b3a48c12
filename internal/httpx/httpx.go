// Package httpx is the transport every adapter is given. It retries reads and
// never writes, pays every attempt from the account's request budget, signs
// each attempt afresh, follows no redirects, limits answers, and lets no secret
// into an error or a log. It also turns answers into error kinds.
//
// The layers of one request, from the adapter to the wire:
//
//	resty          the adapter's client; answers are cut off at 8 MiB
//	redaction      no error leaves with a URL, a token or a password in it
//	retry          reads only: 429, 502, 503, 504 and broken connections
//	budget         counts this attempt, or refuses it
//	signature      made for this attempt
//	connection     kept for reads; a fresh one for every write
package httpx

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/rs/zerolog"

	"curfew/providers"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultRetryWait = 500 * time.Millisecond
	defaultRetryMax  = 10 * time.Second
	bodyLimit        = 8 << 20
)

// Options is what a transport is made of. The zero value is a transport with
// neither budget, retry nor proxy.
type Options struct {
	// Budget pays for every attempt; nil is unlimited.
	Budget *Budget
	// Timeout bounds one attempt, its answer's body included; 30 s by default.
	Timeout time.Duration
	// RetryMax is how often a read is tried again; zero: never.
	RetryMax int
	// RetryWait is the pause before the first retry, doubled each time; 500 ms by
	// default. RetryWaitMax bounds each pause, 10 s by default: an answer that asks
	// for a longer one is given to the caller instead.
	RetryWait    time.Duration
	RetryWaitMax time.Duration
	// Jitter gives a number in [0, 1) for spreading pauses; random by default.
	Jitter func() float64
	// Proxy is as in [http.Transport]; nil is a direct connection.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial makes connections; nil is the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logger is told of every attempt, at debug level only.
	Logger zerolog.Logger
	// Secrets gives what must never be shown; nil is nothing.
	Secrets func() []string
	// Answered is told of every answer before it is read; nil: nobody is. It leaves the
	// body alone.
	Answered func(*http.Response)
	// UserAgent names the program to the platform.
	UserAgent string
}

// New gives a factory of clients, as in [providers.Options]. All clients of one
// factory share connections and budget.
func New(o Options) func(sign providers.Signer) *resty.Client {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.RetryWait <= 0 {
		o.RetryWait = defaultRetryWait
	}
	if o.RetryWaitMax <= 0 {
		o.RetryWaitMax = defaultRetryMax
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	redact := NewRedactor(o.Secrets)
	reads, writes := connections(o), connections(o)
	// net/http sends a request once more by itself when a kept connection turns
	// out to be closed, and does so for every GET, which on some platforms is a
	// write. On a fresh connection it never does, and a failed dial proves that
	// nothing was sent.
	writes.DisableKeepAlives = true

	return func(sign providers.Signer) *resty.Client {
		retry := &retryablehttp.Client{
			HTTPClient: &http.Client{
				Transport: &attempt{
					reads: reads, writes: writes, budget: o.Budget, sign: sign,
					logger: o.Logger, redact: redact, agent: o.UserAgent, answered: o.Answered,
				},
				CheckRedirect: noRedirect,
				Timeout:       o.Timeout,
			},
			RetryWaitMin: o.RetryWait,
			RetryWaitMax: o.RetryWaitMax,
			RetryMax:     o.RetryMax,
			CheckRetry:   checkRetry(o.RetryWaitMax),
			Backoff:      backoff(o.Jitter),
			ErrorHandler: retryablehttp.PassthroughErrorHandler,
		}
		return resty.NewWithClient(&http.Client{
			Transport: &redacting{
				next:   &retryablehttp.RoundTripper{Client: retry},
				redact: redact,
				close:  reads.CloseIdleConnections,
			},
			CheckRedirect: noRedirect,
		}).
			SetResponseBodyLimit(bodyLimit).
			SetLogger(restyLog{o.Logger, redact})
	}
}

func connections(o Options) *http.Transport {
	t := &http.Transport{
		Proxy:                 o.Proxy,
		DialContext:           o.Dial,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   2,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	if t.DialContext == nil {
		t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return t
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// restyLog takes what resty has to say, all of it at debug level.
type restyLog struct {
	logger zerolog.Logger
	redact *Redactor
}

// Errorf logs at debug level: the caller gets the error too.
func (l restyLog) Errorf(format string, v ...any) { l.say(format, v...) }

// Warnf logs at debug level.
func (l restyLog) Warnf(format string, v ...any) { l.say(format, v...) }

// Debugf logs at debug level.
func (l restyLog) Debugf(format string, v ...any) { l.say(format, v...) }

func (l restyLog) say(format string, v ...any) {
	l.logger.Debug().Str("said", l.redact.Sprintf(format, v...)).Msg("http client")
}
