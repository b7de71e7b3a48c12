package config

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"

	"curfew/notify"
)

// Web is how the page is served.
type Web struct {
	// Token is what must be shown for whatever stands there, but for the pages of links
	// in messages: each of those has its own key in its address.
	Token Secret
}

// listen reads where the page is served. Beyond this machine it needs a token.
func (r *reader) listen(listen, web node) {
	r.cfg.Listen = listen.listenAddress("127.0.0.1:8420")
	m := web.mapping()
	if m.given() {
		r.cfg.Web.Token = m.need("token", "write token: {env: NAME}").secret()
		m.done()
	}
	switch here := r.cfg.Listen; {
	case here == "" && m.given() && !listen.given():
		web.bad("is about a page that is not served", `write listen: "127.0.0.1:8420", too, or leave web out`)
	case here == "":
	case here == r.cfg.Ping.Listen:
		listen.bad("is where pings come in already", "give the page a port of its own, such as 8420")
	case !loopback(here) && !m.given():
		listen.bad(fmt.Sprintf("%q is within reach of other machines, and there is no token", here),
			`write web: {token: {env: CURFEW_TOKEN}}, or listen: "127.0.0.1:8420" and let a proxy lead there`)
	}
}

// loopback reports whether only this machine reaches an address.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Address is where people reach the page from where they read messages, as the
// beginning of its addresses; empty: nobody serves it, or nobody else reaches it.
func (c *Config) Address() string {
	host, _, err := net.SplitHostPort(c.Listen)
	ip, noIP := netip.ParseAddr(host)
	switch every := host == "" || noIP == nil && ip.IsUnspecified(); {
	case err != nil: // nobody listens
		return ""
	case c.PublicURL != "":
		return c.PublicURL
	case every || loopback(c.Listen): // it is not said which of its addresses
		return ""
	}
	return "http://" + c.Listen
}

// buttons reads who may press buttons, and the secret by which presses are heard.
func (r *reader) buttons(m *mapping, kind notify.Kind, c *Channel) {
	if kind.Buttons == "" {
		return
	}
	if !slices.Contains(kind.Credentials, kind.Buttons) {
		if s := m.take(kind.Buttons).secret(); !s.IsZero() {
			if c.Credential == nil {
				c.Credential = map[string]Secret{}
			}
			c.Credential[kind.Buttons] = s
		}
	}
	users := m.take("users")
	is := regexp.MustCompile(kind.UserID)
	for _, v := range users.oneOrMany() {
		id, ok := v.scalar()
		switch {
		case !ok:
		case !is.MatchString(id):
			v.bad(fmt.Sprintf("%q is not the id of a person there", id), "write one like "+kind.UserLike+", not a name: a name can be changed")
		case slices.Contains(c.Users, id):
			v.bad(fmt.Sprintf("%q is named already", id), "name each once")
		default:
			c.Users = append(c.Users, id)
		}
	}
	if _, can := c.Credential[kind.Buttons]; users.given() && !can {
		users.bad("says who may press buttons, and without "+kind.Buttons+" there are none", "write "+kind.Buttons+": {env: NAME}, too, or leave users out")
	}
	if users.isEmptyList() {
		users.bad("names nobody", "write ids, or leave the key out for no buttons")
	}
}
