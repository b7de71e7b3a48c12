package accept_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/sshx/sshdtest"
)

// worse is a machine with one fault, and what is to be said of it.
type worse struct {
	spoil func(m *machine, t *accept.Thresholds)
	after func(m *machine) // the stand-ins are there
	kind  string           // fails, warnings or unknown
	code  fleet.Code
	words []string
}

func faults() map[string]worse {
	return map[string]worse{
		"a card is missing": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.cards = m.cards[:1] },
			kind:  "fails", code: accept.CardsCount, words: []string{"2 were ordered, and 1 are there"},
		},
		"another model": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.cards[1] = "NVIDIA A100-SXM4-40GB" },
			kind:  "fails", code: accept.CardsOther, words: []string{"A100-80G was ordered, and card 1 is NVIDIA A100-SXM4-40GB"},
		},
		"an old driver": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.cuda = "11.8" },
			kind:  "fails", code: accept.CUDAOld, words: []string{"good for 11.8 only, and 12.1 is wanted"},
		},
		"a driver a little older": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.cuda = "12.0" },
			kind:  "warnings", code: accept.CUDAMinor, words: []string{"12.0"},
		},
		"no NVLink": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.link = "PHB" },
			kind:  "warnings", code: accept.LinksSlow, words: []string{"no NVLink between the cards (PHB)"},
		},
		"an all-reduce that crawls": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.busbw = "0.62" },
			kind:  "fails", code: accept.TooLittle, words: []string{"all-reduce: 620 MB/s is less than 1 GB/s"},
		},
		"a slow all-reduce": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.busbw = "3.1" },
			kind:  "warnings", code: accept.AllReduceSlow, words: []string{"3.1 GB/s is slow, 5 GB/s or more"},
		},
		"a tiny /dev/shm": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.shm = "65536" },
			kind:  "fails", code: accept.TooLittle, words: []string{"/dev/shm: 67.1 MB is less than 1 GB"},
		},
		"a slow disk": {
			spoil: func(m *machine, _ *accept.Thresholds) {
				m.dd = "1073741824 bytes (1.0GB) copied, 8.5 seconds, 120.5MB/s" // as busybox tells it
			},
			kind: "fails", code: accept.TooLittle, words: []string{"direct write: 126 MB/s is less than 500 MB/s"},
		},
		"a disk without direct writes": {
			after: func(m *machine) {
				m.server.StandIn("dd", "echo \"dd: failed to open '/proc/self/fd/5': Invalid argument\" >&2; exit 1")
			},
			kind: "unknown", code: accept.Unknown, words: []string{"direct write: not known, since dd ended with 1: dd: failed to open"},
		},
		"a disk that is not there": {
			spoil: func(_ *machine, t *accept.Thresholds) { t.Path = "/no/such/folder" },
			kind:  "unknown", code: accept.Unknown, words: []string{"direct write: not known, since there is no folder /no/such/folder", "free disk: not known"},
		},
		"a full disk": {
			after: func(m *machine) {
				m.server.StandIn("df", "echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'; echo \"x 67108864 0 0 100% $2\"")
			},
			kind: "unknown", code: accept.Unknown, words: []string{"there is too little space to write anything"},
		},
		"cards slowed down by heat": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.bits, m.lasts = "0x0000000000000060", 4 },
			kind:  "fails", code: accept.SteadyThrottled, words: []string{"slowed card 0 down in"},
		},
		"cards that somebody uses": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.busy = "37" },
			kind:  "warnings", code: accept.SteadyInUse, words: []string{"card 0 was at 37% before"},
		},
		"cards at work are not disturbed": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.busy = "98" },
			kind:  "unknown", code: accept.Unknown,
			words: []string{"load: not known, since the cards are at work", "all-reduce: not known, since the cards are at work"},
		},
		"a card that PyTorch cannot use": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.wrong = "RuntimeError CUDA error: uncorrectable ECC error" },
			kind:  "fails", code: accept.FrameworkCard, words: []string{"no matrix product on card 1: RuntimeError CUDA error"},
		},
		"a card that PyTorch does not see": {
			spoil: func(m *machine, _ *accept.Thresholds) { m.seen = 1 },
			kind:  "fails", code: accept.FrameworkFewer, words: []string{"sees 1 of 2 cards"},
		},
		"no nvidia-smi": {
			after: func(m *machine) { m.server.StandIn("nvidia-smi", "echo 'nvidia-smi: not found' >&2; exit 127") },
			kind:  "unknown", code: accept.Unknown, words: []string{"cards: not known, since nvidia-smi ended with 127", "all-reduce: not known, since no cards were found"},
		},
		"PyTorch without CUDA": {
			after: func(m *machine) {
				m.server.StandIn("python3", "p=$(cat); case $p in *find_spec*) ;; *) echo torch 2.4.0+cpu -; echo seen 0; echo begin; echo end;; esac")
			},
			kind: "unknown", code: accept.Unknown, words: []string{"framework: not known, since PyTorch 2.4.0+cpu there was made without CUDA"},
		},
		"too few cores and too little memory": {
			spoil: func(_ *machine, t *accept.Thresholds) { t.Cores, t.Memory, t.Free = 4096, 1e15, 1e17 },
			kind:  "fails", code: accept.TooLittle, words: []string{"CPU cores: ", "memory: ", "free disk: "},
		},
		"what is required and cannot be read": {
			spoil: func(_ *machine, t *accept.Thresholds) {
				t.Path, t.Require = "/no/such/folder", []accept.Check{accept.CheckDisk}
			},
			kind: "fails", code: accept.Required, words: []string{"direct write: must be known, and is not"},
		},
	}
}

func TestOneCardAloneHasNoLinksAndAddsUpNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	m.cards = m.cards[:1]
	m.furnish()
	_, res := m.examine(m.wanted())
	told(t, res.Unknown, "links: not known, since one card alone was found", "all-reduce: not known, since one card alone was found")
}

func TestABadMachineIsFoundOut(t *testing.T) {
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, sshdtest.Options{})
			want := m.wanted()
			if f.spoil != nil {
				f.spoil(m, &want)
			}
			m.furnish()
			if f.after != nil {
				f.after(m)
			}
			_, res := m.examine(want)
			of := map[string][]fleet.Reason{"fails": res.Fails, "warnings": res.Warnings, "unknown": res.Unknown}
			if !has(of[f.kind], f.code) {
				t.Errorf("no %s under %s; fails:\n%swarnings:\n%sunknown:\n%s", f.code, f.kind, says(t, res.Fails), says(t, res.Warnings), says(t, res.Unknown))
			}
			told(t, of[f.kind], f.words...)
			if f.kind != "fails" && !res.OK() {
				t.Errorf("it fails:\n%s", says(t, res.Fails))
			}
			m.clean()
		})
	}
}

func TestWithoutPyTorchItIsUnknown(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	m.furnish()
	m.server.StandIn("python3", "exit 1")
	m.server.StandIn("all_reduce_perf", "echo 'all_reduce_perf: Test CUDA failure' >&2; exit 1")
	_, res := m.examine(m.wanted())
	told(t, res.Unknown, "framework: not known, since no Python there has PyTorch", "load: not known, since no Python there has PyTorch",
		"all-reduce: not known, since the answer of all-reduce cannot be read: all_reduce_perf: Test CUDA failure")
	if !res.OK() {
		t.Errorf("it fails:\n%s", says(t, res.Fails))
	}
}

func TestNCCLTestsAreUsedWherePyTorchIsNot(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	m.furnish()
	m.server.StandIn("python3", "exit 1")
	m.server.StandIn("all_reduce_perf", `[ "$*" = "-b 256M -e 256M -g 2 -w 2 -n 10" ] || exit 3
echo '# nThread 1 nGpus 2 minBytes 268435456 maxBytes 268435456'
echo '   268435456      67108864     float     sum      -1    20610   13.02   13.02      0    20590   13.04   13.04      0'
echo '# Out of bounds values : 0 OK'
echo '# Avg bus bandwidth    : 13.0312 '`)
	r, res := m.examine(m.wanted())
	told(t, res.Passed, "all-reduce: 13 GB/s")
	if r.AllReduce.Value.By != "nccl-tests" {
		t.Errorf("%+v", r.AllReduce)
	}
}

func TestADownloadIsMeasured(t *testing.T) {
	t.Parallel()
	var asked []string
	body := []byte(strings.Repeat("x", 4<<20))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Range"))
		switch r.URL.Path {
		case "/small":
			_, _ = w.Write(body[:1000])
		case "/gone":
			http.NotFound(w, r)
		default:
			_, _ = w.Write(body)
		}
	}))
	defer server.Close()
	m := newMachine(t, sshdtest.Options{})
	m.furnish()
	want := m.wanted()
	want.Off = []accept.Check{accept.CheckSteady, accept.CheckFramework, accept.CheckAllReduce}
	for path, c := range map[string]struct {
		least float64
		kind  func(accept.Result) []fleet.Reason
		words string
	}{
		"/big":   {1, func(r accept.Result) []fleet.Reason { return r.Passed }, "download: "},
		"/slow":  {1e15, func(r accept.Result) []fleet.Reason { return r.Fails }, "is less than 1000 TB/s"},
		"/small": {1, func(r accept.Result) []fleet.Reason { return r.Unknown }, "1 kB is too little to tell a speed"},
		"/gone":  {1, func(r accept.Result) []fleet.Reason { return r.Unknown }, "HTTP ended with 404"},
	} {
		want.URL, want.Network = server.URL+path, c.least
		_, res := m.examine(want)
		told(t, c.kind(res), c.words)
	}
	if len(asked) != 4 || asked[0] != "bytes=0-268435455" {
		t.Errorf("asked for %q", asked)
	}
	server.Close()
	_, res := m.examine(want)
	told(t, res.Unknown, "download: not known, since curl ended with 7")
	m.server.StandIn("curl", "echo; echo speed 200 31457280 0.1 15.1; exit 28")
	want.Network = 20e6
	if _, res = m.examine(want); !has(res.Fails, accept.TooLittle) {
		t.Errorf("a download that took too long: %s", says(t, res.Unknown))
	}
	told(t, res.Fails, "download: 2.1 MB/s is less than 20 MB/s")
}
