package fleet

import "slices"

// Belonging is a thing that belongs to an instance: attached to it, or a snapshot of
// it or of one of its disks.
type Belonging struct {
	Ref   Ref    `json:"ref"`
	Name  string `json:"name,omitempty"`
	Price Price  `json:"price,omitzero"` // as it is now
	// WithInstance says whether a release of the instance destroys it as well; unknown
	// counts as yes where data may be lost, and as no where something may go on costing.
	WithInstance Tri `json:"with_instance,omitempty"`
	// Alone says that nothing else needs it, nobody protects it and all of it could be
	// read: it may be deleted after the instance.
	Alone bool `json:"alone,omitempty"`
}

// DisplayName is the name people gave it, or its id.
func (b Belonging) DisplayName() string {
	if b.Name != "" {
		return b.Name
	}
	return b.Ref.ID
}

// Belongings is what belongs to an instance, as far as lists tell.
type Belongings struct {
	Things []Belonging `json:"things,omitempty"`
	// Unread are the kinds of which there may be more than could be read. The zero
	// value knows of nothing that could not be: whoever does not know says so here.
	Unread []ThingKind `json:"unread,omitempty"`
}

// IsZero reports whether nothing belongs to the instance, and that is sure.
func (b Belongings) IsZero() bool { return len(b.Things)+len(b.Unread) == 0 }

// Lost gives the disks that a release destroys, or may.
func (b Belongings) Lost() []Belonging {
	var lost []Belonging
	for _, t := range b.Things {
		if t.Ref.Kind == KindDisk && t.WithInstance != No {
			lost = append(lost, t)
		}
	}
	return lost
}

// ReleaseKeepsAll reports whether it is known that a release of the instance destroys
// no data: neither its own, nor a disk.
func (b Belongings) ReleaseKeepsAll(i Instance) bool {
	return i.OnRelease.KeepsData == KeepsAll && len(b.Lost()) == 0 && !slices.Contains(b.Unread, KindDisk)
}
