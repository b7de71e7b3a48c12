package doctor

import (
	"io/fs"
	"strconv"

	"github.com/dustin/go-humanize"

	"curfew/fleet"
)

// Of the state.
const (
	ReasonStateFine     fleet.Code = "doctor.state-fine"
	ReasonStateNone     fleet.Code = "doctor.state-none"
	ReasonStateFolder   fleet.Code = "doctor.state-folder"
	ReasonStateReadOnly fleet.Code = "doctor.state-read-only"
	ReasonStateUnread   fleet.Code = "doctor.state-unread"
	ReasonStateDamaged  fleet.Code = "doctor.state-damaged"
	ReasonStateOlder    fleet.Code = "doctor.state-older"
	ReasonStateNewer    fleet.Code = "doctor.state-newer"
	ReasonStateOpen     fleet.Code = "doctor.state-open-to-others"
	ReasonStateHeld     fleet.Code = "doctor.state-held"
	DoStateRights       fleet.Code = "doctor.do-state-rights"
	DoStateRestore      fleet.Code = "doctor.do-state-restore"
	DoStateNewer        fleet.Code = "doctor.do-state-newer"
	DoStateClose        fleet.Code = "doctor.do-state-close"
	DoStateHeld         fleet.Code = "doctor.do-state-held"

	ReasonDiskFree   fleet.Code = "doctor.disk-free"
	ReasonDiskFull   fleet.Code = "doctor.disk-full"
	ReasonDiskUnread fleet.Code = "doctor.disk-unread"
	DoDisk           fleet.Code = "doctor.do-disk"
)

// The room below which the state cannot be relied on to grow, and below which it
// will soon be so.
const (
	diskFull = 64 << 20
	diskLow  = 512 << 20
)

// State is what was found out about the file that holds the state.
type State struct {
	Path     string
	There    bool // the file exists
	Folder   bool // so does its folder, or one can be made
	Writable bool // file and folder, for whoever asks
	Mode     fs.FileMode
	Owner    string // who owns the file; empty: not known
	User     string // who asks

	Err            error    // it could not be read
	Problems       []string // that the database finds in itself
	Version, Known int64    // of its tables: what they are of, and what this curfew knows
	Size           int64

	Holder string // the process that has it open; empty: none, or not known which
	Held   bool
}

// StateResults judges the state. answers says that a daemon does.
func StateResults(s State, answers bool) []Result {
	v := fleet.Values{"path": fleet.Text(s.Path)}
	as := func(code fleet.Code, more fleet.Values) fleet.Reason {
		out := fleet.Values{}
		for key, value := range v {
			out[key] = value
		}
		for key, value := range more {
			out[key] = value
		}
		return fleet.Because(code, out)
	}
	rights := fleet.Because(DoStateRights, fleet.Values{"path": fleet.Text(s.Path), "user": fleet.Text(s.User)})
	var out []Result
	switch {
	case !s.There && !s.Folder:
		return []Result{bad(CheckState, "", as(ReasonStateFolder, nil), rights)}
	case !s.There:
		return []Result{fine(CheckState, "", as(ReasonStateNone, nil))}
	case s.Err != nil && !s.Writable:
		return []Result{bad(CheckState, "", as(ReasonStateUnread, fleet.Values{"why": fleet.Text(s.Err.Error())}), rights)}
	case s.Err != nil:
		out = append(out, bad(CheckState, "", as(ReasonStateUnread, fleet.Values{"why": fleet.Text(s.Err.Error())}), fleet.Because(DoStateRestore, nil)))
	case len(s.Problems) > 0:
		out = append(out, bad(CheckState, "", as(ReasonStateDamaged, fleet.Values{
			"why": fleet.Text(s.Problems[0]), "count": fleet.Number(float64(len(s.Problems))),
		}), fleet.Because(DoStateRestore, nil)))
	case !s.Writable:
		out = append(out, bad(CheckState, "", as(ReasonStateReadOnly, fleet.Values{
			"owner": fleet.Text(s.Owner), "user": fleet.Text(s.User),
		}), rights))
	case s.Version > s.Known:
		out = append(out, bad(CheckState, "", as(ReasonStateNewer, versions(s)), fleet.Because(DoStateNewer, nil)))
	case s.Version < s.Known:
		out = append(out, fine(CheckState, "", as(ReasonStateOlder, versions(s))))
	default:
		out = append(out, fine(CheckState, "", as(ReasonStateFine, fleet.Values{
			"size": fleet.Text(bytes(uint64(max(0, s.Size)))), "have": fleet.Number(float64(s.Version)),
		})))
	}
	if s.Mode.Perm()&0o077 != 0 {
		out = append(out, warn(CheckState, "", as(ReasonStateOpen, fleet.Values{"mode": fleet.Text("0" + strconv.FormatUint(uint64(s.Mode.Perm()), 8))}),
			fleet.Because(DoStateClose, fleet.Values{"path": fleet.Text(s.Path)})))
	}
	if s.Held && !answers {
		held := fleet.Values{}
		if s.Holder != "" {
			held["holder"] = fleet.Text(s.Holder)
		}
		out = append(out, bad(CheckState, "", as(ReasonStateHeld, held), fleet.Because(DoStateHeld, nil)))
	}
	return out
}

func versions(s State) fleet.Values {
	return fleet.Values{"have": fleet.Number(float64(s.Version)), "known": fleet.Number(float64(s.Known))}
}

// Disk judges the room that is left where the state lies.
func Disk(path string, free uint64, err error) Result {
	v := fleet.Values{"free": fleet.Text(bytes(free)), "path": fleet.Text(path)}
	switch {
	case err != nil:
		return warn(CheckDisk, "", fleet.Because(ReasonDiskUnread, fleet.Values{"path": fleet.Text(path), "why": fleet.Text(err.Error())}), fleet.Reason{})
	case free < diskFull:
		return bad(CheckDisk, "", fleet.Because(ReasonDiskFull, v), fleet.Because(DoDisk, nil))
	case free < diskLow:
		return warn(CheckDisk, "", fleet.Because(ReasonDiskFree, v), fleet.Because(DoDisk, nil))
	}
	return fine(CheckDisk, "", fleet.Because(ReasonDiskFree, v))
}

func bytes(n uint64) string { return humanize.IBytes(n) }
