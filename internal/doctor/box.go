package doctor

import (
	"slices"
	"strings"

	"curfew/fleet"
)

// Of the machine that curfew itself runs in.
const (
	ReasonCards       fleet.Code = "doctor.box-cards"
	ReasonNoCards     fleet.Code = "doctor.box-no-cards"
	ReasonStop        fleet.Code = "doctor.box-stop"
	ReasonNoStop      fleet.Code = "doctor.box-no-stop"
	ReasonStopMissing fleet.Code = "doctor.box-stop-missing"
	ReasonHome        fleet.Code = "doctor.box-home"
	ReasonNoHome      fleet.Code = "doctor.box-no-home"
	DoCards           fleet.Code = "doctor.do-box-cards"
	DoStopMissing     fleet.Code = "doctor.do-box-stop"
	DoNoStop          fleet.Code = "doctor.do-box-no-stop"
	DoHome            fleet.Code = "doctor.do-box-home"
)

// Box is what was found out about the machine that curfew runs in.
type Box struct {
	Name     string
	Cards    string   // where nvidia-smi is; empty: nowhere
	Stop     string   // the command; empty: none
	Missing  []string // programs of it that are nowhere
	Home     string
	Writable bool // the home, for files by which runs tell of themselves
}

// BoxResults judges the machine.
func BoxResults(b Box) []Result {
	var out []Result
	if b.Cards == "" {
		out = append(out, warn(CheckBox, b.Name, fleet.Because(ReasonNoCards, nil), fleet.Because(DoCards, nil)))
	} else {
		out = append(out, fine(CheckBox, b.Name, fleet.Because(ReasonCards, fleet.Values{"path": fleet.Text(b.Cards)})))
	}
	stop := fleet.Values{"command": fleet.Text(b.Stop)}
	switch {
	case b.Stop == "":
		out = append(out, warn(CheckBox, b.Name, fleet.Because(ReasonNoStop, nil), fleet.Because(DoNoStop, nil)))
	case len(b.Missing) > 0:
		out = append(out, bad(CheckBox, b.Name, fleet.Because(ReasonStopMissing, fleet.Values{
			"program": fleet.Text(strings.Join(b.Missing, ", ")), "command": fleet.Text(b.Stop),
		}), fleet.Because(DoStopMissing, nil)))
	default:
		out = append(out, fine(CheckBox, b.Name, fleet.Because(ReasonStop, stop)))
	}
	home := fleet.Values{"path": fleet.Text(b.Home)}
	if b.Writable {
		return append(out, fine(CheckBox, b.Name, fleet.Because(ReasonHome, home)))
	}
	return append(out, bad(CheckBox, b.Name, fleet.Because(ReasonNoHome, home), fleet.Because(DoHome, nil)))
}

// Programs lists the programs that a command for a shell begins with, as far as
// that can be told without running it: of each part between ; and & and |, the
// first word. What the shell itself knows, or puts together first, is left out.
func Programs(command string) []string {
	own := []string{
		"cd", "exit", "exec", "export", "set", "unset", "trap", "wait", "test", "[", "echo", "printf", "true", "false", ":", ".", "eval", "kill", "umask", "read",
		"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}", "!",
	}
	through := []string{"sudo", "exec", "nohup", "nice", "env", "command", "setsid"}
	var out []string
	for _, part := range strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(";&|\n", c) }) {
		for _, word := range strings.Fields(part) {
			if strings.ContainsAny(word, "$`'\"(){}<>*\\") {
				break // not to be told without a shell
			}
			name, _, assigned := strings.Cut(word, "=")
			if assigned && name != "" || strings.HasPrefix(word, "-") {
				continue
			}
			if !slices.Contains(own, word) && !slices.Contains(out, word) {
				out = append(out, word)
			}
			if !slices.Contains(through, word) && word != "!" && word != "then" && word != "do" && word != "else" && word != "if" {
				break
			}
		}
	}
	return out
}
