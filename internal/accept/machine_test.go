package accept_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/boxsh"
	"curfew/internal/sshx"
	"curfew/internal/sshx/sshdtest"
	"curfew/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a real login with stand-ins for the tools that need cards.
type machine struct {
	t      *testing.T
	server *sshdtest.Server
	proxy  *sshdtest.Proxy
	disk   string // the data path
	cards  []string
	cuda   string
	link   string // between all pairs
	busy   string // percent before the load
	clocks string // a shell command that tells one
	bits   string // why the clocks are no higher
	seen   int    // by PyTorch; -1: as many as there are
	wrong  string // what PyTorch says of card 1
	busbw  string // GB/s
	shm    string // kilobytes
	dd     string // what dd says; empty: the real one
	lasts  int    // the load, in samples
}

// newMachine is a good machine with two cards.
func newMachine(t *testing.T, o sshdtest.Options) *machine {
	t.Helper()
	m := &machine{
		t: t, server: sshdtest.Start(t, o), disk: t.TempDir(), cards: slices.Repeat([]string{"NVIDIA A100-SXM4-80GB"}, 2),
		cuda: "12.4", link: "NV12", busy: "0", clocks: "echo 1410", bits: "0x0000000000000004", seen: -1, busbw: "231.5", shm: "67108864", lasts: 1,
		dd: "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.9 s, 1.2 GB/s",
	}
	m.proxy = sshdtest.NewProxy(t, m.server.Access())
	return m
}

// furnish puts the stand-ins into the machine.
func (m *machine) furnish() {
	m.t.Helper()
	var list, sample, head, rows strings.Builder
	for n, name := range m.cards {
		fmt.Fprintf(&list, "%d, %s, 81920, 550.54.14, %s\n", n, name, m.busy)
		fmt.Fprintf(&sample, "%d, 100, $c, %s\n", n, m.bits)
		fmt.Fprintf(&head, "\tGPU%d", n)
		fmt.Fprintf(&rows, "GPU%d", n)
		for k := range m.cards {
			link := m.link
			if k == n {
				link = " X "
			}
			rows.WriteString("\t" + link)
		}
		rows.WriteString("\t0-63\t0\t\tN/A\n")
	}
	m.server.SetNvidiaSMI(fmt.Sprintf(`case "$*" in
*--query-gpu=index,name*) cat <<'E'
%sE
;;
*--query-gpu=index,util*) c=$(%s); cat <<E
%sE
echo >>"$HOME/samples";;
*--query-gpu=clocks_throttle*) echo 0x4;;
"topo -m") printf '\033[4m%s\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n'; cat <<'E'
%sE
;;
"") echo 'Mon Jun  2 10:00:00 2025'
	echo '| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: %s     |';;
esac`, list.String(), m.clocks, sample.String(), head.String(), rows.String(), m.cuda))
	m.server.StandIn("python3", m.python())
	m.server.StandIn("df", fmt.Sprintf("case $2 in /dev/shm) echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'; echo 'shm %s 0 %s 0%% /dev/shm';; *) exec /bin/df \"$@\";; esac", m.shm, m.shm))
	if m.dd != "" {
		m.server.StandIn("dd", "echo '"+m.dd+"' >&2")
	}
}

// python answers to the programs that are sent to it.
func (m *machine) python() string {
	seen := m.seen
	if seen < 0 {
		seen = len(m.cards)
	}
	var b strings.Builder
	b.WriteString("p=$(cat)\ncase $p in\n*find_spec*) exit 0;;\n*init_process_group*) echo 'busbw " + m.busbw + "';;\n*)\n")
	fmt.Fprintf(&b, "echo torch 2.4.0+cu124 12.4; echo seen %d\n", seen)
	for n := range seen {
		if n == 1 && m.wrong != "" {
			fmt.Fprintf(&b, "echo card 1 bad '%s'\n", m.wrong)
			continue
		}
		fmt.Fprintf(&b, "echo card %d ok\n", n)
	}
	b.WriteString(": >\"$HOME/samples\"; echo begin\n")
	for range 5 {
		for n := range seen {
			fmt.Fprintf(&b, "echo rate %d 251.3\n", n)
		}
	}
	b.WriteString("n=0; while [ $n -lt 300 ] && [ $(wc -l <\"$HOME/samples\") -lt " + strconv.Itoa(m.lasts) + " ]; do sleep 0.1; n=$((n+1)); done; echo end;;\nesac\n")
	return b.String()
}

func (m *machine) examiner() *accept.Examiner {
	m.t.Helper()
	key, err := sshx.ParseKey(m.server.KeyPEM)
	if err != nil {
		m.t.Fatal(err)
	}
	return &accept.Examiner{Now: time.Now, Login: boxsh.Login{
		Dialer: &sshx.Dialer{Key: key, Pins: sshx.NewMemoryPins()},
		Access: func(context.Context, fleet.Instance) (fleet.Access, error) {
			return m.proxy.Access(m.server.Access()), nil
		},
	}}
}

func (m *machine) instance() fleet.Instance {
	return fleet.Instance{
		Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "i-1"}, Boot: "b1", Name: "exp $(touch /tmp/x) 'it' is",
		Region: "west", State: fleet.StateRunning, GPU: fleet.GPU{Model: "A100-80G", Count: 2, MemoryGB: 80},
	}
}

// wanted are the thresholds of the tests.
func (m *machine) wanted() accept.Thresholds {
	t := accept.Defaults()
	t.Path, t.CUDA, t.Timeout = m.disk, accept.Version{Major: 12, Minor: 1}, time.Minute
	return t
}

func (m *machine) examine(t accept.Thresholds) (accept.Report, accept.Result) {
	m.t.Helper()
	r, err := m.examiner().Examine(m.t.Context(), m.instance(), t)
	if err != nil {
		m.t.Fatalf("examine: %v", err)
	}
	return r, accept.Judge(r, m.instance().GPU, t)
}

// clean asks that nothing was left on the disk.
func (m *machine) clean() {
	m.t.Helper()
	if left, err := os.ReadDir(m.disk); err != nil || len(left) > 0 {
		m.t.Errorf("left on the disk: %v, %v", left, err)
	}
}

func says(t *testing.T, rs []fleet.Reason) string {
	t.Helper()
	words, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range rs {
		b.WriteString(words.Reason(r, time.Now()) + "\n")
	}
	return b.String()
}

func has(rs []fleet.Reason, code fleet.Code) bool {
	return slices.ContainsFunc(rs, func(r fleet.Reason) bool { return r.Code == code })
}

// told is whether a reason says so.
func told(t *testing.T, rs []fleet.Reason, words ...string) {
	t.Helper()
	all := says(t, rs)
	for _, w := range words {
		if !strings.Contains(all, w) {
			t.Errorf("nothing says %q:\n%s", w, all)
		}
	}
}

func find(t *testing.T, program string) string {
	t.Helper()
	for _, dir := range []string{"/bin", "/usr/bin"} {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			return filepath.Join(dir, program)
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed; make test-needs installs it", program)
	}
	t.Skipf("%s is not installed", program)
	return ""
}
