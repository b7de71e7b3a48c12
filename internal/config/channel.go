package config

import (
	"fmt"

	"curfew/notify"
)

// proxy reads the way that a channel's messages take: a word, an address, or where the
// address is kept, since one with a login in it is a secret.
func (n node) proxy(kind notify.Kind) (notify.Proxy, Secret) {
	plain, kept := n.as(form{kind: kindProxy, def: notify.ProxyEnv}), n.as(form{kind: kindSecret, def: notify.ProxyEnv})
	if n.isBlock() {
		return notify.Proxy{}, kept.secret()
	}
	n = plain
	s := n.text("")
	if s == "" {
		return notify.Proxy{}, Secret{}
	}
	p, err := notify.ParseProxy(s)
	switch {
	case err != nil:
		n.bad("is not a proxy", err.Error())
	case p.URL != nil && p.URL.User != nil:
		n.bad("holds a login in the file itself", "write {env: NAME}, {file: PATH} or {credential: NAME}, and keep the whole address there")
	case kind.SOCKSOnly && s == notify.ProxyEnv:
		n.bad("means proxies for HTTP, which "+kind.Name+" does not speak", "write socks5://HOST:PORT, or leave it out to go direct")
	case kind.CheckProxy(p) != nil:
		n.bad("is a proxy for HTTP, which "+kind.Name+" does not speak", "write socks5://HOST:PORT, or leave it out to go direct")
	default:
		return p, Secret{}
	}
	return notify.Proxy{}, Secret{}
}

// quota reads how many messages a channel is to take: never more than its kind does.
func quota(n node, kind notify.Kind) notify.Quota {
	m := n.mapping()
	read := func(key, of string, most int) int {
		v := m.take(key)
		got := v.whole(0, 1, false)
		if most > 0 && got > most {
			v.bad(fmt.Sprintf("%d is more than %s takes, which is %d %s", got, kind.Name, most, of), fmt.Sprintf("write %d or less", most))
			return 0
		}
		return got
	}
	q := notify.Quota{
		PerMinute: read("per_minute", "a minute", kind.PerMinute),
		PerDay:    read("per_day", "in 24 hours", kind.PerDay),
		PerMonth:  read("per_month", "in 31 days", kind.PerMonth),
	}
	if m.given() && len(m.keys) == 0 {
		m.bad("is empty", "write {per_day: 20}, or leave the key out")
	}
	m.done()
	return q
}
