package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
)

const mark = "curfew-TEST"

// part writes a section of an answer.
func part(name, body, status string) string {
	return fmt.Sprintf("\n%s > %s\n%s\n%s < %s\n", mark, name, body, mark, status)
}

func parse(parts ...string) answer {
	return split([]byte("Welcome!\n"+strings.Join(parts, "")), mark, fleet.Reason{})
}

func TestTheVersionOfCUDAIsInTheHead(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want Version
	}{
		// As a driver of 2024 prints it (nvidia-smi's documentation).
		"550": {"| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |", Version{12, 4}},
		// As printed on a B200 with driver 610 (github.com/sgl-project/sglang, 27487).
		"610": {"| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |", Version{13, 3}},
		"ten": {"CUDA Version: 12.10 ", Version{12, 10}},
	} {
		if got := parse(part("cuda", "Sun Jun  7 08:16:57 2026\n"+c.head, "0")).cuda(); !got.Known || got.Value != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	// Before driver 410, and in a container without the driver's library.
	for _, head := range []string{"| NVIDIA-SMI 331.62     Driver Version: 331.62         |", "| CUDA Version: N/A     |", ""} {
		if got := parse(part("cuda", head, "0")).cuda(); got.Known || got.Why.Code != WhyGarbled {
			t.Errorf("%q: %+v", head, got)
		}
	}
}

// dgx are rows as a DGX A100 prints them (github.com/NVIDIA/nccl, 1505), here of four
// cards and two network cards.
const dgx = "\x1b[4m\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
	"GPU0\t X \tNV12\tNV12\tNV12\tPXB\tSYS\t48-63,176-191\t3\t\tN/A\n" +
	"GPU1\tNV12\t X \tNV12\tNV12\tPXB\tSYS\t48-63,176-191\t3\t\tN/A\n" +
	"GPU2\tNV12\tNV12\t X \tNV12\tSYS\tPXB\t16-31,144-159\t1\t\tN/A\n" +
	"GPU3\tNV12\tNV12\tNV12\t X \tSYS\tPXB\t16-31,144-159\t1\t\tN/A\n" +
	"NIC0\tPXB\tPXB\tSYS\tSYS\t X \tSYS\t\t\t\t\n" + legend

const legend = "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n" +
	"  NV#  = Connection traversing a bonded set of # NVLinks\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"

// As printed on eight cards without NVLink (github.com/kubernetes/kubernetes, 53497),
// here of four; and on two RTX 5090 (github.com/noonghunna/club-3090, 1229).
const (
	pcie = "        GPU0    GPU1    GPU2    GPU3    mlx4_0  CPU Affinity\n" +
		"GPU0     X      PIX     PHB     SYS     PHB     0-9,20-29\nGPU1    PIX      X      PHB     SYS     PHB     0-9,20-29\n" +
		"GPU2    PHB     PHB      X      SYS     PHB     0-9,20-29\nGPU3    SYS     SYS     SYS      X      SYS     10-19,30-39\n" + legend
	pair = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tPHB\t0-63\t0\t\tN/A\nGPU1\tPHB\t X \t0-63\t0\t\tN/A\n" + legend
)

func TestLinksAreReadFromTheMatrix(t *testing.T) {
	for body, want := range map[string]Links{
		dgx:  {Pairs: 6, NVLink: 6},
		pcie: {Pairs: 6, Other: "PHB PIX SYS"},
		pair: {Pairs: 1, Other: "PHB"},
		"\tGPU0\tCPU Affinity\nGPU0\t X \t0-63\n":                                             {},
		"\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV4\tSYS\nGPU1\tNV4\t X \tSYS\nGPU2\tSYS\tSYS\t X \n": {Pairs: 3, NVLink: 1, Other: "SYS"},
	} {
		if got := parse(part("links", body, "0")).links(); !got.Known || got.Value != want {
			t.Errorf("%.60q: %+v, want %+v", body, got, want)
		}
	}
	for name, body := range map[string]string{
		"nothing":      "",
		"an error":     "Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error",
		"short rows":   "GPU0\t X \nGPU1\tPHB\t X \n",
		"no diagonal":  "GPU0\tPHB\tPHB\nGPU1\tPHB\t X \n",
		"another word": "GPU0\t X \tABC\nGPU1\tABC\t X \n",
	} {
		if got := parse(part("links", body, "0")).links(); got.Known || got.Why.Code != WhyGarbled {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCardsAreReadOrUnknown(t *testing.T) {
	got := parse(part("cards", "0, NVIDIA GeForce RTX 4090, 24564, 550.54.14, 3\n1, NVIDIA GeForce RTX 4090, [N/A], 550.54.14, [N/A]", "0")).cards()
	three := 3.0
	want := known([]Card{
		{Index: 0, Name: "NVIDIA GeForce RTX 4090", MemoryMB: 24564, Driver: "550.54.14", Busy: &three},
		{Index: 1, Name: "NVIDIA GeForce RTX 4090", Driver: "550.54.14"},
	})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("cards (-want +got):\n%s", diff)
	}
	for body, code := range map[string]fleet.Code{
		"":                             WhyGarbled,
		"No devices were found":        WhyGarbled,
		"0, A, 1, 1, 1\n0, A, 1, 1, 1": WhyGarbled,
	} {
		if got := parse(part("cards", body, "0")).cards(); got.Known || got.Why.Code != code {
			t.Errorf("%q: %+v", body, got)
		}
	}
}

func TestWhyAThingIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		parts []string
		cut   fleet.Reason
		code  fleet.Code
	}{
		{nil, fleet.Reason{}, WhyEnded},
		{nil, fleet.Because(WhyTime, nil), WhyTime},
		{[]string{"\n" + mark + " > cards\n0, A, 1"}, fleet.Because(WhyLost, nil), WhyLost},
		{[]string{part("cards", "", "missing")}, fleet.Reason{}, WhyMissing},
		{[]string{part("cards", "", "137")}, fleet.Reason{}, WhySlow},
		{[]string{part("cards", "", "138")}, fleet.Reason{}, WhySlow},
		{[]string{part("cards", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "9")}, fleet.Reason{}, WhyStatus},
	} {
		a := split([]byte(strings.Join(c.parts, "")), mark, c.cut)
		if got := a.cards(); got.Known || got.Why.Code != c.code {
			t.Errorf("%q: %+v, want %s", c.parts, got, c.code)
		}
	}
	none := parse(part("python", "", "missing"), part("load", "", "nopython"))
	bare := parse(part("python", "", "notorch"), part("load", "", "nopython"))
	if a, b := none.framework().Why.Code, bare.load().Why.Code; a != WhyNoPython || b != WhyNoTorch {
		t.Errorf("without Python %s, without PyTorch %s", a, b)
	}
}

func TestOnlySamplesUnderLoadCount(t *testing.T) {
	body := "torch 2.4.0 12.1\nseen 1\ncard 0 ok\nsample 0, 99, 900, 0x0000000000000008\nbegin\n" +
		"sample 0, 100, 1410, 0x0000000000000004\nsample 0, 3, 210, 0x0000000000000001\nsample 0, 100, 1395, [N/A]\nrate 0 251.3\n" +
		"sample 0, 100, 1200, 0x0000000000000080\nsample garbage\nrate x 1\nend\nsample 0, 100, 300, 0x8"
	got := parse(part("load", body, "0")).load()
	want := known([]LoadCard{{Index: 0, Rates: []float64{251.3}, Clocks: []float64{1410, 1395, 1200}, Throttled: 1, Told: 2}})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("load (-want +got):\n%s", diff)
	}
}

func TestFiguresOfTheMachine(t *testing.T) {
	a := parse(
		part("cores", "nproc 64\nmax 1200000 100000", "0"), part("memory", "MemTotal:       263857124 kB\nmax 64424509440", "0"),
		part("shm", "Filesystem     1024-blocks  Used Available Capacity Mounted on\nshm                  65536     0     65536       0% /dev/shm", "0"),
		part("free", "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sd a 1000 500 0 100% /data of mine", "0"),
		part("disk", "16+0 records in\n16+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 0.0428599 s, 1.6 GB/s", "0"),
	)
	if c, m, s, f := a.cores(), a.memory(), a.room("shm", "", 1), a.room("free", "", 3); c.Value != 12 || m.Value != 64424509440 || s.Value != 67108864 || !f.Known || f.Value != 0 {
		t.Errorf("%+v %+v %+v %+v", c, m, s, f)
	}
	if d := a.disk(""); !d.Known || int(d.Value/1e6) != 1565 {
		t.Errorf("%+v", d)
	}
	b := parse(part("cores", "nproc 8\nmax max 100000", "0"), part("memory", "MemTotal: 1000 kB\nmax max", "0"),
		part("disk", "67108864 bytes (64.0MB) copied, 0.5 seconds, 128.0MB/s", "137"))
	if c, m, d := b.cores(), b.memory(), b.disk(""); c.Value != 8 || m.Value != 1024000 || d.Value != 134217728 {
		t.Errorf("%+v %+v %+v", c, m, d)
	}
}

// names lists the sections that are read.
func names() []string {
	return []string{"cores", "memory", "shm", "free", "disk", "network", "cards", "cuda", "links", "python", "load", "allreduce", "end"}
}

// Whatever a machine answers, nothing panics, and what is not understood is not known
// and never passes.
func TestGarbageIsUnknown(t *testing.T) {
	words := []string{"GPU0", "GPU1", " X ", "NV12", "nproc", "max", "MemTotal:", "kB", "rate", "card", "seen", "torch", "busbw", "begin", "end", "sample",
		"%", "bytes copied, ", "s", "speed 200", "CUDA Version: ", "0", "-1", "99999999999999999999", "1e308", "NaN", "Inf", "0x", ",", "\t", "\n", "\x00", "\xff", "é", mark}
	rapid.Check(t, func(t *rapid.T) {
		var out strings.Builder
		for _, name := range names() {
			body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, name), rapid.SampledFrom([]string{"", " ", ", ", "\n"}).Draw(t, "between"))
			status := rapid.SampledFrom([]string{"0", "0", "0", "1", "missing", "137", "busy", "nopython", "", "\xff"}).Draw(t, "status")
			out.WriteString(part(name, body, status))
		}
		text := out.String()
		if cut := rapid.IntRange(0, len(text)).Draw(t, "cut"); rapid.Bool().Draw(t, "whether it is cut") {
			text = text[:cut]
		}
		e := exam{mark: mark, t: Defaults()}
		e.t.URL = "http://x"
		r, _ := e.read([]byte(text), fleet.Reason{})
		for name, v := range r.Figures() {
			if !(v >= 0 && v < 1e300) {
				t.Errorf("%s is %v", name, v)
			}
		}
		res := Judge(r, fleet.GPU{Model: "A100", Count: 2}, e.t)
		if len(res.Passed)+len(res.Fails)+len(res.Warnings)+len(res.Unknown) < len(Checks()) {
			t.Errorf("not every check has an answer: %+v", res)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		e := exam{mark: mark, t: Defaults()}
		r, ok := e.read(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"), fleet.Reason{})
		if res := Judge(r, fleet.GPU{Model: "A100", Count: 2}, e.t); ok || len(res.Passed) > 0 || len(res.Unknown) == 0 {
			t.Errorf("%v %+v", ok, res)
		}
	})
}

func TestNamesOfCards(t *testing.T) {
	for _, c := range []struct {
		ordered, found string
		same, told     bool
	}{
		{"RTX 4090", "NVIDIA GeForce RTX 4090", true, true},
		{"RTX4090", "NVIDIA GeForce RTX 4090", true, true},
		{"4090", "NVIDIA GeForce RTX 4090", true, true},
		{"RTX 4090", "NVIDIA GeForce RTX 4090 D", false, true},
		{"RTX 4090D", "NVIDIA GeForce RTX 4090 D", true, true},
		{"RTX 3080 Ti", "NVIDIA GeForce RTX 3080 Ti", true, true},
		{"RTX 3080", "NVIDIA GeForce RTX 3080 Ti", false, true},
		{"RTX 4080S", "NVIDIA GeForce RTX 4080 SUPER", true, true},
		{"RTX 3090", "NVIDIA GeForce RTX 4090", false, true},
		{"A100-80G", "NVIDIA A100-SXM4-80GB", true, true},
		{"A100-PCIE-40GB", "NVIDIA A100-SXM4-80GB", false, true},
		{"A100 SXM", "NVIDIA A100-SXM4-80GB", true, true},
		{"A100 PCIe", "NVIDIA A100-SXM4-80GB", false, true},
		{"A100", "NVIDIA A100-PCIE-40GB", true, true},
		{"H100 80GB HBM3", "NVIDIA H100 80GB HBM3", true, true},
		{"H800", "NVIDIA H100 80GB HBM3", false, true},
		{"L40", "NVIDIA L40S", false, true},
		{"L40S", "NVIDIA L40S", true, true},
		{"V100-32GB", "Tesla V100-SXM2-32GB", true, true},
		{"Tesla T4", "Tesla T4", true, true},
		{"RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation", true, true},
		{"RTX 6000", "NVIDIA RTX 6000 Ada Generation", false, true},
		{"RTX A6000", "NVIDIA RTX A6000", true, true},
		{"B200", "NVIDIA B200", true, true},
		{"H20", "NVIDIA H20", true, true},
		{"vGPU-48GB", "NVIDIA GeForce RTX 4090", false, false},
		{"", "NVIDIA GeForce RTX 4090", false, false},
	} {
		if same, told := parseModel(c.ordered).same(parseModel(c.found)); same != c.same || told != c.told {
			t.Errorf("%q and %q: same %v told %v; want %v %v", c.ordered, c.found, same, told, c.same, c.told)
		}
	}
}

func TestSizesAndSpeeds(t *testing.T) {
	for s, want := range map[string]int64{"64GB": 64e9, "1.5 TB": 15e11, "512MB": 512e6} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "64", "GB", "0GB", "-1GB", "1GB/s", "1e3GB", "NaNGB"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q is %d", s, got)
		}
	}
	if got, err := ParseSpeed("1.5GB/s"); err != nil || got != 1.5e9 {
		t.Errorf("%v, %v", got, err)
	}
	for v, want := range map[float64]string{0: "0 B", 999: "999 B", 5e8: "500 MB", 1e9: "1 GB", 231.5e9: "232 GB", 1e15: "1000 TB", 1e17: "100000 TB"} {
		if got := Size(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	for _, d := range []Thresholds{Defaults()} { // what is written as a default can be read
		for _, s := range []string{Speed(d.AllReduceFail), Speed(d.AllReduceWarn), Speed(d.Disk), Speed(d.Network)} {
			if _, err := ParseSpeed(s); err != nil {
				t.Error(err)
			}
		}
	}
	if !slices.Contains(Checks(), CheckSteady) {
		t.Error("no steady")
	}
}
