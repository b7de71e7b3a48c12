package config

import (
	"path"
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// OwnerLabel is the label that says whose something is, where the platform has labels.
const OwnerLabel = "owner"

// Person is somebody who uses machines.
type Person struct {
	Owner string
	// Names are patterns of the names of what is theirs, as path.Match reads them; most
	// platforms have no labels.
	Names []string
	// Labels say it as well: any of them.
	Labels map[string]string
	// Unowned says that what is nobody's is told to this person.
	Unowned bool
	// IDs are what the channels know this person by, by the type of channel.
	IDs map[string]string
}

func (r *reader) people(n node) {
	seen := map[string]string{}
	unowned := ""
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		var p Person
		owner := m.need("owner", "write owner: and what you call the person")
		p.Owner = owner.name()
		unique(owner, p.Owner, seen)
		for _, v := range m.take("names").oneOrMany() {
			if glob := v.glob(); glob != "" {
				p.Names = append(p.Names, glob)
			}
		}
		if labels := m.take("labels").mapping(); labels.given() {
			p.Labels = map[string]string{}
			for key, v := range labels.all() {
				p.Labels[key] = v.text("")
			}
		}
		if v := m.take("unowned"); v.flag() {
			if p.Unowned = true; unowned != "" {
				v.bad("what is nobody's is told to "+unowned+" already", "say it of one person")
			}
			unowned = p.Owner
		}
		for _, kind := range r.reg.Channels {
			if kind.Name == notify.ConsoleKind {
				continue
			}
			if id := m.take(kind.Name).text(""); id != "" {
				if p.IDs == nil {
					p.IDs = map[string]string{}
				}
				p.IDs[kind.Name] = id
			}
		}
		m.done()
		r.cfg.People = append(r.cfg.People, p)
	}
}

// Known gives the ids by which channels of a type know people, by what they are called
// as owners; that of the empty owner is who is told of what is nobody's.
func (c *Config) Known(channelType string) map[string]string {
	ids := map[string]string{}
	for _, p := range c.People {
		id := p.IDs[channelType]
		if id == "" {
			continue
		}
		ids[p.Owner] = id
		if p.Unowned {
			ids[""] = id
		}
	}
	return ids
}

// Owner says whose an instance is: the first person whose label it bears or whose
// pattern its name matches, else what its owner label says, else what the platform
// says; empty where nobody does.
func (c *Config) Owner(i fleet.Instance) string {
	for _, p := range c.People {
		for key, value := range p.Labels {
			if have, ok := i.Labels[key]; ok && (value == "" || have == value) {
				return p.Owner
			}
		}
	}
	// In a name a slash is a letter like any other.
	letters := strings.NewReplacer("/", "\x00")
	for _, p := range c.People {
		for _, pattern := range p.Names {
			if ok, err := path.Match(letters.Replace(pattern), letters.Replace(i.Name)); ok && err == nil && i.Name != "" {
				return p.Owner
			}
		}
	}
	if label := i.Labels[OwnerLabel]; label != "" {
		return label
	}
	return i.Owner
}
