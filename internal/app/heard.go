package app

import (
	"errors"
	"net/http"

	"curfew/internal/config"
	"curfew/notify"
)

// proxy gives the way that an entry names for its messages. What is kept as a secret is
// read here, and no error repeats it.
func (o *Opener) proxy(entry config.Channel, kind notify.Kind) (notify.Proxy, error) {
	if entry.ProxySecret.IsZero() {
		return entry.Proxy, nil
	}
	read, err := o.read(map[string]config.Secret{"address": entry.ProxySecret})
	if err != nil {
		return notify.Proxy{}, err
	}
	p, err := notify.ParseProxy(read["address"])
	if err != nil || p.URL == nil {
		return notify.Proxy{}, errors.New(entry.ProxySecret.Place() +
			" holds no address of a proxy; write http://USER:PASSWORD@HOST:PORT, or https:// or socks5:// and the same")
	}
	return p, kind.CheckProxy(p)
}

// heard gives what sends a channel's messages: nil, the usual, where nobody wants to be
// told of the answers and nobody named a proxy.
func (o *Opener) heard(entry string, proxy notify.Proxy) http.RoundTripper {
	if o.Answered == nil && proxy.IsZero() {
		return nil
	}
	out := &http.Transport{
		Proxy: proxy.For, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: channelTimeout, MaxResponseHeaderBytes: 64 << 10,
	}
	if o.Answered == nil {
		return out
	}
	return hearing{next: out, answered: func(resp *http.Response) { o.Answered(entry, resp) }}
}

type hearing struct {
	next     http.RoundTripper
	answered func(*http.Response)
}

// RoundTrip sends the request, and tells of the answer.
func (h hearing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.next.RoundTrip(req)
	if err == nil {
		h.answered(resp)
	}
	return resp, err
}
