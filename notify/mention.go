package notify

import (
	"slices"

	"curfew/fleet"
)

// maxMentions is how many people one message calls: fewer than any channel takes, and
// a message to more is one that nobody feels called by.
const maxMentions = 10

// OwnerOf says whose a thing is that a notice is about; empty where it is nobody's.
func OwnerOf(i fleet.Instance) string {
	if i.Ref.Kind == fleet.KindOwner {
		return i.Ref.ID
	}
	return i.Owner
}

// mentioned gives the ids of those whom a message that tells the notices is for, each
// once: who owns what it is about, as far as people says what the channel knows them
// by. The empty owner stands there for who is told of what is nobody's.
func mentioned(ns []Notice, people map[string]string) []string {
	if len(people) == 0 {
		return nil
	}
	over := map[string]bool{}
	for _, n := range ns {
		if n.Event == EventResolved && n.Thread != "" {
			over[n.Thread] = true
		}
	}
	var ids []string
	for _, n := range ns {
		if over[n.Thread] {
			continue // nobody has to do anything about it any more
		}
		for _, owner := range n.owners() {
			if id := people[owner]; id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids[:min(len(ids), maxMentions)]
}

// owners are those whom the notice is for. What is over, and what is about everything
// or about curfew itself, is for nobody.
func (n Notice) owners() []string {
	of := n.about()
	switch n.Event {
	case EventTest, EventReload, EventResolved:
		return nil
	case EventDigest:
		if of.Ref.Kind != fleet.KindOwner {
			return nil
		}
	}
	switch of.Ref.Kind {
	case fleet.KindInstance, fleet.KindDisk, fleet.KindSnapshot, fleet.KindImage, fleet.KindPublicIP, fleet.KindOwner:
	default:
		return nil
	}
	owners := []string{OwnerOf(of)}
	for _, o := range n.With {
		owners = append(owners, o.Owner)
	}
	return owners
}
