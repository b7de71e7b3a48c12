package setup

import (
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// MarkKind is where a mark is found. Marks of two kinds are independent: what
// copies one, such as an image or a script, does not copy the other.
type MarkKind string

// The kinds of marks.
const (
	MarkEnv  MarkKind = "env"  // an environment variable that is set
	MarkHost MarkKind = "host" // what the host name begins with
	MarkPath MarkKind = "path" // a file or folder that is there
)

// Mark is a thing by which a machine of a platform is known.
type Mark struct {
	Kind MarkKind
	Name string
}

// String gives the mark as people write it.
func (m Mark) String() string {
	switch m.Kind {
	case MarkEnv:
		return "$" + m.Name
	case MarkHost:
		return "hostname " + m.Name + "*"
	case MarkPath:
	}
	return m.Name
}

// on reports whether the machine bears the mark.
func (m Mark) on(box Machine) bool {
	switch m.Kind {
	case MarkEnv:
		_, ok := box.Lookup(m.Name)
		return ok
	case MarkHost:
		return strings.HasPrefix(box.Hostname(), m.Name)
	case MarkPath:
		return box.Has(m.Name)
	}
	return false
}

// What people should know of a platform before they guard a machine there.
const (
	NoteAutoDL     fleet.Code = "cli.box.note-autodl"
	NoteDeployment fleet.Code = "cli.box.note-autodl-deployment"
	NoteGPUShare   fleet.Code = "cli.box.note-gpushare"
	NoteMatpool    fleet.Code = "cli.box.note-matpool"
	NoteFeaturize  fleet.Code = "cli.box.note-featurize"
	NoteLanrui     fleet.Code = "cli.box.note-lanrui"
)

// Platform is a platform whose machines are known from inside. What nobody has
// established of it is left at its zero value: unknown.
type Platform struct {
	Name  string // what machines there are called after
	Title string
	Marks []Mark
	// Needs must be there, Unless must not.
	Needs, Unless Mark
	// Stop is the command that powers a machine off from inside.
	Stop string
	// GivesBack is a command that ends a machine by giving it back, with what is on
	// it. It is never taken without being asked for.
	GivesBack string
	OnStop    fleet.OnStop
	Billing   fleet.Billing
	Zone      string // of its bills and its people
	Provider  string // whose token its users have; empty: there is none
	Note      fleet.Code
}

// Platforms lists the platforms that are known from inside. Adding one is adding
// an entry.
func Platforms() []Platform {
	const (
		day      = 24 * time.Hour
		shanghai = "Asia/Shanghai"
		// A container of an elastic deployment looks like an instance and is none.
		deployment = "AutoDLDeploymentUUID"
	)
	autodl := []Mark{
		{MarkEnv, "AutoDLContainerUUID"},
		{MarkEnv, "AutoDLRegion"},
		{MarkHost, "autodl-container-"},
		{MarkPath, "/root/autodl-tmp"},
		{MarkPath, "/init/boot/boot.sh"},
	}
	return []Platform{
		{
			Name: "autodl", Title: "AutoDL", Marks: autodl, Unless: Mark{MarkEnv, deployment},
			Stop:    "/usr/bin/shutdown",
			OnStop:  fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll, ReleasesAfter: 15 * day},
			Billing: fleet.BillingPerSecond, Zone: shanghai, Provider: "autodl", Note: NoteAutoDL,
		},
		{
			Name: "autodl-deployment", Title: "AutoDL 弹性部署", Zone: shanghai, Provider: "autodl", Note: NoteDeployment,
			Marks: append(slices.Clone(autodl), Mark{MarkEnv, deployment}), Needs: Mark{MarkEnv, deployment},
		},
		{
			Name: "gpushare", Title: "恒源云 gpushare", Zone: shanghai, Note: NoteGPUShare,
			Marks:  []Mark{{MarkPath, "/hy-tmp"}, {MarkPath, "/hy-public"}, {MarkPath, "/hy-nas"}},
			Stop:   "shutdown -h now",
			OnStop: fleet.OnStop{KeepsData: fleet.KeepsPart, ReleasesAfter: 10 * day},
		},
		{
			Name: "matpool", Title: "矩池云 matpool", Zone: shanghai, Note: NoteMatpool,
			Marks: []Mark{{MarkEnv, "MATCLOUD_CANCELTOKEN"}, {MarkPath, "/public/script/matncli"}},
			GivesBack: `export $(tr '\0' '\n' </proc/1/environ | grep ^MATCLOUD_CANCELTOKEN=) && ` +
				`/public/script/matncli node cancel -url https://matpool.com/api/public/node`,
			OnStop: fleet.OnStop{KeepsData: fleet.KeepsNone},
		},
		{
			Name: "featurize", Title: "Featurize", Zone: shanghai, Note: NoteFeaturize,
			Marks:  []Mark{{MarkPath, "/home/featurize"}},
			OnStop: fleet.OnStop{KeepsData: fleet.KeepsPart},
		},
		{
			Name: "lanrui", Title: "揽睿星舟 lanrui", Zone: shanghai, Note: NoteLanrui,
			Marks:  []Mark{{MarkPath, "/home/user/datadisk"}},
			OnStop: fleet.OnStop{KeepsData: fleet.KeepsPart},
		},
	}
}

// Sight is what a machine was taken for.
type Sight struct {
	Platform Platform
	Marks    []Mark // that it bears
	// Sure is that two independent marks say so. Otherwise somebody must be asked.
	Sure bool
}

// Recognise tells which platform a machine is of, by the one most of whose kinds
// of marks it bears. One without any is of none that is known.
func Recognise(box Machine) (Sight, bool) {
	var best Sight
	most := 0
	for _, p := range Platforms() {
		if p.Needs != (Mark{}) && !p.Needs.on(box) || p.Unless != (Mark{}) && p.Unless.on(box) {
			continue
		}
		s, kinds := Sight{Platform: p}, map[MarkKind]bool{}
		for _, m := range p.Marks {
			if m.on(box) {
				s.Marks = append(s.Marks, m)
				kinds[m.Kind] = true
			}
		}
		s.Sure = len(kinds) > 1
		if len(kinds) > most {
			best, most = s, len(kinds)
		}
	}
	return best, most > 0
}

// MachineName is what a machine is called: after its platform, and by its
// container's id or else its host name.
func MachineName(box Machine, platform string) string {
	id := box.Hostname()
	switch platform {
	case "":
		return word(id, "box")
	case "autodl", "autodl-deployment":
		if uuid, ok := box.Lookup("AutoDLContainerUUID"); ok {
			id = uuid
		}
		id = strings.TrimPrefix(id, "autodl-container-")
	}
	return platform + "-" + word(id, "box")
}

// word keeps of a name what every name may hold.
func word(s, or string) string {
	s = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, s), "-.")
	if s == "" {
		return or
	}
	return s
}
