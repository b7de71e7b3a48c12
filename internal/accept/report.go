package accept

import (
	"fmt"
	"time"

	"curfew/fleet"
)

// Check names what is examined.
type Check string

// The checks.
const (
	CheckCards     Check = "cards"     // model, memory and count
	CheckFramework Check = "framework" // a matrix product on each card
	CheckCUDA      Check = "cuda"      // what the driver is good for
	CheckLinks     Check = "links"     // between the cards
	CheckAllReduce Check = "allreduce" // how fast the cards add up what they hold
	CheckSteady    Check = "steady"    // nobody else uses the cards, and nothing slows them down
	CheckShm       Check = "shm"       // /dev/shm
	CheckDisk      Check = "disk"      // direct write
	CheckNetwork   Check = "network"   // download
	CheckCPU       Check = "cpu"
	CheckMemory    Check = "memory"
	CheckFree      Check = "free" // space on the disk
)

// Checks lists every check.
func Checks() []Check {
	return []Check{
		CheckCards, CheckFramework, CheckCUDA, CheckLinks, CheckAllReduce, CheckSteady,
		CheckShm, CheckDisk, CheckNetwork, CheckCPU, CheckMemory, CheckFree,
	}
}

// Reading is something that was measured, or why it was not. The zero value is not
// known.
type Reading[T any] struct {
	Known bool         `json:"known"`
	Value T            `json:"value"`
	Why   fleet.Reason `json:"why,omitzero"` // of what is not known
}

func known[T any](v T) Reading[T] { return Reading[T]{Known: true, Value: v} }

func unknown[T any](why fleet.Reason) Reading[T] { return Reading[T]{Why: why} }

// Report is what was measured inside a machine.
type Report struct {
	Began     time.Time           `json:"began"`
	Ended     time.Time           `json:"ended"`
	Cores     Reading[float64]    `json:"cores"`  // what may be used, by a quota too
	Memory    Reading[int64]      `json:"memory"` // bytes that may be used
	Shm       Reading[int64]      `json:"shm"`    // bytes /dev/shm may hold
	Free      Reading[int64]      `json:"free"`   // bytes on the data path
	Disk      Reading[float64]    `json:"disk"`   // bytes a second
	Network   Reading[float64]    `json:"network"`
	Cards     Reading[[]Card]     `json:"cards"`
	CUDA      Reading[Version]    `json:"cuda"` // the newest the driver is good for
	Links     Reading[Links]      `json:"links"`
	Framework Reading[Framework]  `json:"framework"`
	AllReduce Reading[Bandwidth]  `json:"allreduce"`
	Load      Reading[[]LoadCard] `json:"load"`
}

// Card is a card as nvidia-smi tells it.
type Card struct {
	Index    int      `json:"index"`
	Name     string   `json:"name"`
	MemoryMB float64  `json:"memory_mb"` // MiB; 0: not told
	Driver   string   `json:"driver,omitempty"`
	Busy     *float64 `json:"busy,omitempty"` // percent before anything was begun; nil: not told
}

// Version is a version of CUDA.
type Version struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
}

// String gives it as in 12.4.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Links are the pairs of cards by how they are joined, as nvidia-smi topo -m calls it.
type Links struct {
	Pairs  int    `json:"pairs"`
	NVLink int    `json:"nvlink"`          // how many of them by NVLink
	Other  string `json:"other,omitempty"` // the words of the others, such as PHB SYS
}

// Framework is what PyTorch says.
type Framework struct {
	Version string      `json:"version"`
	CUDA    string      `json:"cuda"` // it was built for; empty: none
	Seen    int         `json:"seen"` // cards
	Cards   []CardTried `json:"cards"`
}

// CardTried is a card on which a matrix product was tried.
type CardTried struct {
	Index int    `json:"index"`
	OK    bool   `json:"ok"`
	Said  string `json:"said,omitempty"` // why it is not
}

// Bandwidth is how fast cards add up what they hold: the bus bandwidth in the sense of
// nccl-tests, in bytes a second.
type Bandwidth struct {
	PerSecond float64 `json:"per_second"`
	By        string  `json:"by"` // torch or nccl-tests
}

// LoadCard is how a card bore a load of some seconds.
type LoadCard struct {
	Index     int       `json:"index"`
	Rates     []float64 `json:"rates,omitempty"`  // matrix products in TFLOPS, one after another
	Clocks    []float64 `json:"clocks,omitempty"` // MHz
	Throttled int       `json:"throttled"`        // of the samples, how many were slowed down by heat or a lack of power
	Told      int       `json:"told"`             // samples that tell whether
}

// Figures gives what is known as numbers by name: speeds in bytes a second, sizes in
// bytes, the rate of the slowest card in TFLOPS.
func (r Report) Figures() map[string]float64 {
	out := map[string]float64{}
	put := func(name string, is bool, v float64) {
		if is {
			out[name] = v
		}
	}
	put("cores", r.Cores.Known, r.Cores.Value)
	put("memory", r.Memory.Known, float64(r.Memory.Value))
	put("shm", r.Shm.Known, float64(r.Shm.Value))
	put("free", r.Free.Known, float64(r.Free.Value))
	put("disk", r.Disk.Known, r.Disk.Value)
	put("network", r.Network.Known, r.Network.Value)
	put("allreduce", r.AllReduce.Known, r.AllReduce.Value.PerSecond)
	for n, c := range r.Load.Value {
		if rate := median(c.Rates); n == 0 || rate < out["tflops"] {
			out["tflops"] = rate
		}
	}
	return out
}
