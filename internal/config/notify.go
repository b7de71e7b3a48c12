package config

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/internal/text"
	"curfew/notify"
)

// Notify is how people are told.
type Notify struct {
	Channels []Channel
	// Routes is one route to every channel where the file names none.
	Routes []notify.Route
	// Digest is when people are told how everything stands, Weekly when how the week was,
	// and Sheet when each is told what theirs cost in the month before; nil is never.
	Digest, Weekly, Sheet *sched.Schedule
	// Pace is how findings of one group are told, and Quiet when only what cannot wait
	// is.
	Pace  notify.Pace
	Quiet notify.QuietHours
	// Mute is what is noted when it is found, and not told.
	Mute []notify.Mute
	// Templates is a folder of people's own words for notices; empty: there is none.
	Templates string
}

// Channel is one entry of notify.channels.
type Channel struct {
	Pos
	Name        string
	Type        string
	Credential  map[string]Secret
	Settings    map[string]string
	BaseURL     string        // empty: the kind's own
	Language    text.Language // empty: the file's
	MinSeverity fleet.Severity
	// Templates is the folder of its own words; where the entry says none, the one of
	// all.
	Templates string
	// Users are the ids of those who may press buttons; none: there are no buttons.
	Users []string
	// Proxy is the way its messages take; where ProxySecret is one, its address is kept
	// there.
	Proxy       notify.Proxy
	ProxySecret Secret
	Quota       notify.Quota // zero: the kind's own
}

func (r *reader) notify(n node) {
	m := n.mapping()
	r.cfg.Notify.Templates = r.beside(m.take("templates").text(""))
	seen := map[string]string{}
	for _, entry := range m.take("channels").list() {
		if c := entry.mapping(); c.given() {
			r.channel(c, seen)
		}
	}
	r.routes(m.take("routes"))
	r.digest(m.take("digest"))
	r.pace(m.take("group"))
	r.quiet(m.take("quiet_hours"))
	r.mute(m.take("mute"))
	m.done()
}

func (r *reader) channel(m *mapping, seen map[string]string) {
	c := Channel{Pos: m.pos}
	name := m.need("name", "write name: and what you call it")
	c.Name = name.name()
	unique(name, c.Name, seen)
	kind := r.channelKind(m.need("type", "write type: and the kind of channel"), m)
	c.Type = kind.Name
	given := false
	for _, key := range kind.Credentials {
		v := m.take(key)
		if _, ok := m.pairs[key]; !ok {
			continue
		}
		given = true
		if s := v.secret(); !s.IsZero() {
			if c.Credential == nil {
				c.Credential = map[string]Secret{}
			}
			c.Credential[key] = s
		}
	}
	r.buttons(m, kind, &c)
	if !kind.NoSecrets {
		m.asked.needOneOf(kind.Credentials)
	}
	if len(kind.Credentials) > 0 && !given && !kind.NoSecrets {
		m.bad("has no "+strings.Join(kind.Credentials, " and no "), "write "+kind.Credentials[0]+": {env: NAME}")
	}
	for _, key := range kind.Settings {
		if s, ok := m.take(key).scalar(); ok {
			if c.Settings == nil {
				c.Settings = map[string]string{}
			}
			c.Settings[key] = s
		}
	}
	c.BaseURL = m.take("base_url").webURL()
	c.Language = language(m.take("language"))
	c.Templates = cmp.Or(r.beside(m.take("templates").text("")), r.cfg.Notify.Templates)
	c.MinSeverity = fleet.Severity(m.take("min_severity").word(string(fleet.Info),
		string(fleet.Info), string(fleet.Warning), string(fleet.Critical)))
	if kind.Name != notify.ConsoleKind {
		c.Proxy, c.ProxySecret = m.take("proxy").proxy(kind)
	}
	c.Quota = quota(m.take("quota"), kind)
	m.done()
	r.cfg.Notify.Channels = append(r.cfg.Notify.Channels, c)
}

func (r *reader) channelKind(n node, m *mapping) notify.Kind {
	var names []string
	for _, k := range r.reg.Channels {
		names = append(names, k.Name)
	}
	name := n.as(oneOf(kindChoice, "", names)).text("")
	for _, k := range r.reg.Channels {
		if k.Name == name {
			return k
		}
	}
	m.free = true
	if name != "" {
		n.bad(fmt.Sprintf("%q is not a kind of channel", name), suggest(name, names))
	}
	return notify.Kind{}
}

func (r *reader) routes(n node) {
	var channels []string
	for _, c := range r.cfg.Notify.Channels {
		channels = append(channels, c.Name)
	}
	if !n.given() {
		if len(channels) > 0 {
			r.cfg.Notify.Routes = []notify.Route{{To: channels}}
		}
		return
	}
	categories := []string{
		string(fleet.CategoryMoney), string(fleet.CategoryAct), string(fleet.CategoryHealth),
		string(fleet.CategoryStock), string(fleet.CategoryDigest),
	}
	taken, last := []string(nil), ""
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		var route notify.Route
		category := m.take("category")
		for _, v := range category.oneOrMany() {
			c := v.word("", categories...)
			if contains(taken, c) {
				v.bad(fmt.Sprintf("an earlier route takes %s already, and the first that takes a notice is the only one", c), "name the channels there")
			}
			if c != "" {
				route.Categories = append(route.Categories, fleet.Category(c))
			}
		}
		if category.isEmptyList() {
			category.bad("names no category", "write some, or leave the key out for all")
		}
		if last != "" {
			m.bad("is never reached, since "+last+" takes everything", "put it before that one")
		}
		if _, ok := m.pairs["category"]; !ok {
			last = m.path
		}
		for _, c := range route.Categories {
			taken = append(taken, string(c))
		}
		channel := m.need("to", "write to: and the name of a channel")
		if channel.isEmptyList() {
			channel.bad("names no channel", "write the name of one")
		}
		route.To = namedChannels(channel, channels)
		route.Fallback = namedChannels(m.take("fallback"), channels)
		if e := m.take("escalate").mapping(); e.given() {
			route.Escalate.After = e.need("after", "write after: and a time, such as 30m").span(30 * time.Minute)
			route.Escalate.To = namedChannels(e.need("to", "write to: and the name of a channel"), channels)
			e.done()
		}
		m.done()
		r.cfg.Notify.Routes = append(r.cfg.Notify.Routes, route)
	}
	if last == "" && !contains(taken, string(fleet.CategoryAct)) {
		n.bad("no route takes act, so nobody would be warned before an act", "end with {to: CHANNEL}, which takes the rest")
	}
}
