package notify

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
)

// The words that stand for a proxy's address.
const (
	ProxyDirect = "direct"
	ProxyEnv    = "env"
)

// SOCKS5 is the scheme of the proxies that take connections of any kind.
const SOCKS5 = "socks5"

// Proxy is the way from here to a platform. The zero value is what the environment
// says: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as net/http reads them.
type Proxy struct {
	Direct bool     // past every proxy
	URL    *url.URL // of the proxy; it may hold a login
}

// ParseProxy reads a word or an address. Its error says what would be right, and
// repeats nothing, since an address may hold a password.
func ParseProxy(s string) (Proxy, error) {
	switch s {
	case ProxyDirect:
		return Proxy{Direct: true}, nil
	case ProxyEnv:
		return Proxy{}, nil
	}
	u, err := url.Parse(s)
	if err != nil || !slices.Contains([]string{"http", "https", SOCKS5}, u.Scheme) || u.Hostname() == "" ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return Proxy{}, errors.New("write http://HOST:PORT, https:// or socks5:// and the same, direct or env")
	}
	u.Path = ""
	return Proxy{URL: u}, nil
}

// IsZero reports whether the environment decides.
func (p Proxy) IsZero() bool { return p == Proxy{} }

// For gives the proxy of one request, as http.Transport asks for it; nil: none.
func (p Proxy) For(req *http.Request) (*url.URL, error) {
	if p.Direct || p.URL != nil {
		return p.URL, nil
	}
	return http.ProxyFromEnvironment(req)
}

// CheckProxy says why a kind of channel cannot go through a proxy, and what would be
// right; nil: it can.
func (k Kind) CheckProxy(p Proxy) error {
	if k.SOCKSOnly && p.URL != nil && p.URL.Scheme != SOCKS5 {
		return errors.New(k.Name + " does not speak HTTP, and goes through no proxy that is for it; write socks5://HOST:PORT, or direct")
	}
	return nil
}
