package look

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
)

// seenInside is what the readings before tell of the box.
type seenInside struct {
	processes []fleet.Process
	kins      map[int]kin
	now       time.Time     // by the box's clock
	ahead     time.Duration // of ours
	cut       string
}

// readJupyter reads what Jupyter servers say of their kernels. A server that
// cannot be asked fails the reading: its kernels may be at work.
func readJupyter(a answer, in seenInside) ([]fleet.Session, string) {
	list := a["jupyter"]
	why := list.failed(in.cut)
	asked := map[int]bool{}
	for name := range a {
		// The list comes last: where it is missing, what was answered counts all the
		// same.
		if pid, err := strconv.Atoi(strings.TrimPrefix(name, "jupyter ")); err == nil && pid > 0 {
			asked[pid] = true
		}
	}
	servers := jupyterServers(in)
	var sessions []fleet.Session
	for _, pid := range slices.Sorted(maps.Keys(asked)) {
		found, bad := readServer(a, pid, in)
		sessions = append(sessions, found...)
		if bad.why != "" && (servers[pid] || !bad.doubtful) {
			why = cmp.Or(why, fmt.Sprintf("pid %d: %s", pid, bad.why))
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(servers)) {
		if !asked[pid] {
			why = cmp.Or(why, fmt.Sprintf("pid %d: its runtime file, which holds its token, was not found or cannot be read", pid))
		}
	}
	return sessions, why
}

// jupyterServers tells by their command lines which processes are servers. A
// child of one is a kernel or a terminal that has not begun yet.
func jupyterServers(in seenInside) map[int]bool {
	servers := map[int]bool{}
	for _, p := range in.processes {
		if isJupyter(p.Command) {
			servers[p.PID] = true
		}
	}
	for pid := range maps.Clone(servers) {
		if k, known := in.kins[pid]; known && servers[k.parent] {
			delete(servers, pid)
		}
	}
	return servers
}

// isJupyter reports whether a command line is that of a server: the program, or
// the script or module that a Python runs. A shell, a sudo or a container's
// runtime that only started one is none.
func isJupyter(command string) bool {
	words := strings.Fields(command)
	if len(words) > 0 && strings.HasPrefix(path.Base(words[0]), "python") {
		words = words[1:]
		for len(words) > 1 && strings.HasPrefix(words[0], "-") && words[0] != "-m" && words[0] != "-c" {
			words = words[1:]
		}
		if len(words) > 1 && words[0] == "-m" {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return false
	}
	switch path.Base(words[0]) {
	case "jupyter-lab", "jupyter-labhub", "jupyter-notebook", "jupyter-server", "jupyter-nbclassic", "jupyterhub-singleuser",
		"jupyterlab", "notebook", "jupyter_server", "nbclassic", "jupyterhub.singleuser":
	default:
		return false
	}
	if len(words) == 1 {
		return true
	}
	switch words[1] {
	case "list", "stop", "password", "build", "clean", "extension", "labextension", "migrate", "path", "paths", "workspaces", "licenses":
		return false
	}
	return true
}

// trouble is why a server did not tell what it was asked. It is doubtful where
// there may be no such server: its runtime file was left behind, and its process
// id or port is somebody else's now.
type trouble struct {
	why      string
	doubtful bool
}

// readServer reads what one server says of its kernels, and of its terminals
// where they are not to be seen otherwise.
func readServer(a answer, pid int, in seenInside) ([]fleet.Session, trouble) {
	s := a["jupyter "+strconv.Itoa(pid)]
	written, answered, _ := strings.Cut(s.body, "\n")
	left := in.leftBehind(pid, written)
	switch s.status {
	case "gone":
		return nil, trouble{}
	case "odd":
		return nil, trouble{"its runtime file is unclear", left}
	case "apart":
		return nil, trouble{"it runs in a container that cannot be entered", left}
	case "notool":
		return nil, trouble{"there is neither curl nor Python to ask it with", left}
	case "skipped":
		return nil, trouble{"not asked, for another did not answer in time", left}
	}
	if why := s.failed(in.cut); why != "" {
		return nil, trouble{why, left}
	}
	body, bad := readReply(answered)
	if bad.why != "" {
		bad.doubtful = bad.doubtful || left
		return nil, bad
	}
	sessions, why := readKernels(body, in.now)
	if why != "" {
		return sessions, trouble{why, why == notJupyter}
	}
	s, told := a["jupyter "+strconv.Itoa(pid)+" terminals"]
	if !told {
		return sessions, trouble{}
	}
	if why := s.failed(in.cut); why != "" {
		return sessions, trouble{"terminals: " + why, false}
	}
	terminals, why := readTerminals(s.body, in.now)
	if why != "" {
		why = "terminals: " + why
	}
	return append(sessions, terminals...), trouble{why, false}
}

// leftBehind reports whether a runtime file, written at that time, is older than
// the process that now has the id it names.
func (in seenInside) leftBehind(pid int, written string) bool {
	at, ok := unix(written)
	n := slices.IndexFunc(in.processes, func(p fleet.Process) bool { return p.PID == pid })
	if !ok || n < 0 || in.processes[n].StartedAt.IsZero() {
		return false
	}
	return at.Add(-in.ahead).Before(in.processes[n].StartedAt.Add(-jitter))
}

// readReply takes apart what a client printed: the body, the HTTP status, and its
// own exit status.
func readReply(said string) (body string, bad trouble) {
	rest, exit, found := cutLastLine(said)
	if code, err := strconv.Atoi(exit); !found || err != nil || code < 0 || code > 255 {
		return "", trouble{"its answer is too long", false}
	}
	switch exit {
	case "0":
	case "7":
		return "", trouble{"its port does not answer", true}
	case "28", "124", "137", "142":
		return "", trouble{"it does not answer in time", false}
	default:
		return "", trouble{"it could not be asked, exit status " + exit, false}
	}
	body, code, _ := cutLastLine(rest)
	switch code {
	case "200":
		return body, trouble{}
	case "401", "403":
		return "", trouble{"it refuses the token that it wrote down (HTTP " + code + ")", false}
	}
	return "", trouble{"it answers HTTP " + Short(code), true}
}

func cutLastLine(s string) (before, last string, found bool) {
	s = strings.TrimSuffix(s, "\n")
	n := strings.LastIndexByte(s, '\n')
	if n < 0 {
		return "", s, false
	}
	return s[:n], s[n+1:], true
}

// notJupyter is said of an answer that no Jupyter server gives.
const notJupyter = "it does not answer as a Jupyter server does"

// readKernels reads the answer to api/kernels. Only a kernel says that it is busy;
// of any other it counts when it was last used. How many are connected says
// nothing: a page left open is connected.
func readKernels(body string, now time.Time) ([]fleet.Session, string) {
	var kernels []struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		State string `json:"execution_state"`
		Last  string `json:"last_activity"`
	}
	if err := json.Unmarshal([]byte(body), &kernels); err != nil || kernels == nil {
		return nil, notJupyter
	}
	var sessions []fleet.Session
	var why string
	for _, k := range kernels {
		name := Short(strings.TrimSpace("kernel "+Short(k.Name)) + " " + k.ID[:min(len(k.ID), 8)])
		idle, known := since(k.Last, now)
		switch k.State {
		case "busy":
			sessions = append(sessions, fleet.Session{Kind: "kernel", Name: name, Idle: idle, Busy: true})
		case "idle", "starting", "restarting", "autorestarting":
			// One that nobody connects to is starting for ever.
			if !known {
				why = cmp.Or(why, name+" does not tell when it was last used")
				continue
			}
			sessions = append(sessions, fleet.Session{Kind: "kernel", Name: name, Idle: idle})
		case "dead":
		default:
			why = cmp.Or(why, "the state of "+name+" is unclear: "+strconv.Quote(Short(k.State)))
		}
	}
	return sessions, why
}

// readTerminals reads the answer to api/terminals. A server without terminals
// knows no such page.
func readTerminals(said string, now time.Time) ([]fleet.Session, string) {
	body, bad := readReply(said)
	if bad.why == "it answers HTTP 404" {
		return nil, ""
	}
	if bad.why != "" {
		return nil, bad.why
	}
	var terminals []struct {
		Name string `json:"name"`
		Last string `json:"last_activity"`
	}
	if err := json.Unmarshal([]byte(body), &terminals); err != nil || terminals == nil {
		return nil, notJupyter
	}
	var sessions []fleet.Session
	var why string
	for _, t := range terminals {
		name := "jupyter " + Short(t.Name)
		if idle, known := since(t.Last, now); known {
			sessions = append(sessions, fleet.Session{Kind: "tty", Name: name, Idle: idle})
		} else {
			why = cmp.Or(why, "terminal "+Short(t.Name)+" does not tell when it was last used")
		}
	}
	return sessions, why
}

// since is how long ago a server's time stamp is by the box's clock, which is the
// server's as well.
func since(stamp string, now time.Time) (time.Duration, bool) {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return 0, false
	}
	return max(0, now.Sub(at).Truncate(time.Second)), true
}

// readEditors reads when a file was last saved in an editor whose server runs in
// the box: the newest entry of its local history. That it is connected says
// nothing, and neither does a history without its server, which may be another
// machine's.
func readEditors(s section, in seenInside) []fleet.Session {
	var sessions []fleet.Session
	for _, line := range s.lines() {
		when, dir, _ := strings.Cut(line, " ")
		at, ok := unix(when)
		home := path.Base(strings.TrimSuffix(strings.TrimSuffix(dir, "/User/History"), "/data"))
		name := strings.TrimPrefix(home, ".")
		runs := func(p fleet.Process) bool {
			return strings.Contains(p.Command, "/"+home+"/") || name == "code-server" && strings.Contains(p.Command, name)
		}
		if !ok || name == "" || !slices.ContainsFunc(in.processes, runs) {
			continue
		}
		sessions = append(sessions, fleet.Session{Kind: "vscode", Name: Short(name), Idle: max(0, in.now.Sub(at).Truncate(time.Second))})
	}
	return sessions
}
