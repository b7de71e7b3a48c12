package accept

import (
	"fmt"
	"slices"
	"strings"

	"curfew/fleet"
)

// What is said of a check.
const (
	Enough    fleet.Code = "accept.enough"
	TooLittle fleet.Code = "accept.too-little"
	Told      fleet.Code = "accept.told" // nothing was asked for
	Unknown   fleet.Code = "accept.unknown"
	Required  fleet.Code = "accept.required"

	CardsAsOrdered  fleet.Code = "accept.cards-as-ordered"
	CardsFound      fleet.Code = "accept.cards-found"
	CardsOther      fleet.Code = "accept.cards-other"
	CardsCount      fleet.Code = "accept.cards-count"
	CardsMemory     fleet.Code = "accept.cards-memory"
	CardsCompare    fleet.Code = "accept.cards-compare"
	CardsNotOrdered fleet.Code = "accept.cards-not-ordered"

	FrameworkWorks fleet.Code = "accept.framework-works"
	FrameworkFewer fleet.Code = "accept.framework-fewer"
	FrameworkCard  fleet.Code = "accept.framework-card"

	CUDAGood  fleet.Code = "accept.cuda-good"
	CUDAOld   fleet.Code = "accept.cuda-old"
	CUDAMinor fleet.Code = "accept.cuda-minor"

	LinksNVLink fleet.Code = "accept.links-nvlink"
	LinksSlow   fleet.Code = "accept.links-slow"
	LinksSome   fleet.Code = "accept.links-some"

	AllReduceSlow fleet.Code = "accept.allreduce-slow"

	SteadyGood      fleet.Code = "accept.steady-good"
	SteadyThrottled fleet.Code = "accept.steady-throttled"
	SteadyOnce      fleet.Code = "accept.steady-once"
	SteadyClocks    fleet.Code = "accept.steady-clocks"
	SteadyRates     fleet.Code = "accept.steady-rates"
	SteadyUneven    fleet.Code = "accept.steady-uneven"
	SteadyInUse     fleet.Code = "accept.steady-in-use"
	SteadyBlind     fleet.Code = "accept.steady-blind"
)

// What the checks are called, by [Name].
const (
	nameCards     fleet.Code = "accept.name-cards"
	nameFramework fleet.Code = "accept.name-framework"
	nameCUDA      fleet.Code = "accept.name-cuda"
	nameLinks     fleet.Code = "accept.name-links"
	nameAllReduce fleet.Code = "accept.name-allreduce"
	nameSteady    fleet.Code = "accept.name-steady"
	nameShm       fleet.Code = "accept.name-shm"
	nameDisk      fleet.Code = "accept.name-disk"
	nameNetwork   fleet.Code = "accept.name-network"
	nameCPU       fleet.Code = "accept.name-cpu"
	nameMemory    fleet.Code = "accept.name-memory"
	nameFree      fleet.Code = "accept.name-free"
)

// Name is what a check is called.
func Name(c Check) fleet.Reason {
	return fleet.Because(map[Check]fleet.Code{
		CheckCards: nameCards, CheckFramework: nameFramework, CheckCUDA: nameCUDA, CheckLinks: nameLinks,
		CheckAllReduce: nameAllReduce, CheckSteady: nameSteady, CheckShm: nameShm, CheckDisk: nameDisk,
		CheckNetwork: nameNetwork, CheckCPU: nameCPU, CheckMemory: nameMemory, CheckFree: nameFree,
	}[c], nil)
}

// Result is what a report is worth.
type Result struct{ Passed, Fails, Warnings, Unknown []fleet.Reason }

// OK reports whether nothing failed.
func (r Result) OK() bool { return len(r.Fails) == 0 }

// Judge compares what was measured with what was ordered and what is asked for. It is
// pure. What is not known is in Unknown, and fails only where it is required.
func Judge(r Report, ordered fleet.GPU, t Thresholds) Result {
	j := &judge{r: r, ordered: ordered, t: t}
	j.cards()
	j.framework()
	j.cuda()
	j.links()
	j.allReduce()
	j.steady()
	if count := len(r.Cards.Value); !r.Cards.Known || count > 1 || ordered.Count > 1 {
		judgeFigure(j, CheckShm, r.Shm, float64(t.Shm), Size)
	} else {
		judgeFigure(j, CheckShm, r.Shm, 0, Size)
	}
	judgeFigure(j, CheckDisk, r.Disk, t.Disk, Speed)
	if t.URL != "" {
		judgeFigure(j, CheckNetwork, r.Network, t.Network, Speed)
	}
	judgeFigure(j, CheckCPU, r.Cores, t.Cores, digits)
	judgeFigure(j, CheckMemory, r.Memory, float64(t.Memory), Size)
	judgeFigure(j, CheckFree, r.Free, float64(t.Free), Size)
	return j.out
}

// judge is one judging.
type judge struct {
	r       Report
	ordered fleet.GPU
	t       Thresholds
	out     Result
}

func (j *judge) pass(r fleet.Reason) { j.out.Passed = append(j.out.Passed, r) }
func (j *judge) fail(r fleet.Reason) { j.out.Fails = append(j.out.Fails, r) }
func (j *judge) warn(r fleet.Reason) { j.out.Warnings = append(j.out.Warnings, r) }

// unknown says that a check could not be made. It fails where the check is required.
func (j *judge) unknown(c Check, why fleet.Reason) {
	if why.IsZero() {
		why = fleet.Because(WhyEnded, nil)
	}
	v := fleet.Values{"what": fleet.Nested(Name(c)), "why": fleet.Nested(why)}
	if slices.Contains(j.t.Require, c) {
		j.fail(fleet.Because(Required, v))
		return
	}
	j.out.Unknown = append(j.out.Unknown, fleet.Because(Unknown, v))
}

// judgeFigure compares a figure with the least that is asked for; 0 asks for nothing.
func judgeFigure[T int64 | float64](j *judge, c Check, is Reading[T], least float64, say func(float64) string) {
	if j.t.off(c) {
		return
	}
	if !is.Known {
		j.unknown(c, is.Why)
		return
	}
	v := fleet.Values{"what": fleet.Nested(Name(c)), "found": fleet.Text(say(float64(is.Value))), "least": fleet.Text(say(least))}
	switch {
	case least == 0:
		j.pass(fleet.Because(Told, v))
	case float64(is.Value) < least:
		j.fail(fleet.Because(TooLittle, v))
	default:
		j.pass(fleet.Because(Enough, v))
	}
}

// memoryShare is the least share of the memory a card is sold with that a driver tells:
// where it checks errors (ECC), some is kept back; an A10 with 24 GB tells 23028 MiB.
const memoryShare = 0.85

func (j *judge) cards() {
	if j.t.off(CheckCards) {
		return
	}
	cards := j.r.Cards.Value
	if !j.r.Cards.Known {
		j.unknown(CheckCards, j.r.Cards.Why)
		return
	}
	found := namesOf(cards)
	if j.ordered.Model == "" && j.ordered.Count == 0 {
		j.unknown(CheckCards, fleet.Because(CardsNotOrdered, fleet.Values{"found": fleet.Text(found)}))
		return
	}
	good := true
	bad := func(r fleet.Reason) {
		good = false
		j.fail(r)
	}
	if n := j.ordered.Count; n > 0 && n != len(cards) {
		bad(fleet.Because(CardsCount, fleet.Values{"ordered": fleet.Number(float64(n)), "found": fleet.Number(float64(len(cards)))}))
	}
	want, compared := parseModel(j.ordered.Model), true
	for _, c := range cards {
		v := fleet.Values{"ordered": fleet.Text(j.ordered.Model), "found": fleet.Text(c.Name), "card": fleet.Number(float64(c.Index))}
		same, told := want.same(parseModel(c.Name))
		if compared = compared && (told || j.ordered.Model == ""); told && !same {
			bad(fleet.Because(CardsOther, v))
			break // the others would say the same
		}
		if sold := float64(j.ordered.MemoryGB) * 1024; sold > 0 && c.MemoryMB > 0 && c.MemoryMB < sold*memoryShare {
			bad(fleet.Because(CardsMemory, fleet.Values{
				"card":    fleet.Number(float64(c.Index)),
				"ordered": fleet.Text(fmt.Sprintf("%d GB", j.ordered.MemoryGB)), "found": fleet.Text(digits(c.MemoryMB/1024) + " GB"),
			}))
			break
		}
	}
	v := fleet.Values{"found": fleet.Text(found), "ordered": fleet.Text(j.ordered.Model)}
	switch {
	case good && !compared:
		j.unknown(CheckCards, fleet.Because(CardsCompare, v))
	case good && j.ordered.Model == "":
		j.pass(fleet.Because(CardsFound, v))
	case good:
		j.pass(fleet.Because(CardsAsOrdered, v))
	}
}

// namesOf lists cards as in 8 × NVIDIA A100-SXM4-80GB.
func namesOf(cards []Card) string {
	counts, names := map[string]int{}, []string{}
	for _, c := range cards {
		if counts[c.Name]++; counts[c.Name] == 1 {
			names = append(names, c.Name)
		}
	}
	for n, name := range names {
		names[n] = fmt.Sprintf("%d × %s", counts[name], name)
	}
	return strings.Join(names, ", ")
}

func (j *judge) framework() {
	f := j.r.Framework.Value
	if j.t.off(CheckFramework) {
		return
	}
	if !j.r.Framework.Known {
		j.unknown(CheckFramework, j.r.Framework.Why)
		return
	}
	want := max(len(j.r.Cards.Value), j.ordered.Count)
	tried := 0
	for _, c := range f.Cards {
		if c.OK {
			tried++
			continue
		}
		j.fail(fleet.Because(FrameworkCard, fleet.Values{"card": fleet.Number(float64(c.Index)), "said": fleet.Text(c.Said)}))
	}
	v := fleet.Values{"version": fleet.Text(f.Version), "seen": fleet.Number(float64(f.Seen)), "count": fleet.Number(float64(want))}
	switch {
	case f.Seen < want:
		j.fail(fleet.Because(FrameworkFewer, v))
	case len(f.Cards) < f.Seen: // it ended before it had tried them all
		j.unknown(CheckFramework, fleet.Because(WhySlow, fleet.Values{"program": fleet.Text("PyTorch")}))
	case tried == f.Seen && tried > 0:
		j.pass(fleet.Because(FrameworkWorks, v))
	}
}

func (j *judge) cuda() {
	if j.t.off(CheckCUDA) {
		return
	}
	if !j.r.CUDA.Known {
		j.unknown(CheckCUDA, j.r.CUDA.Why)
		return
	}
	is, want := j.r.CUDA.Value, j.t.CUDA
	v := fleet.Values{"found": fleet.Text(is.String()), "wanted": fleet.Text(want.String())}
	switch {
	case want == Version{}:
		j.pass(fleet.Because(Told, fleet.Values{"what": fleet.Nested(Name(CheckCUDA)), "found": fleet.Text(is.String())}))
	case is.Major < want.Major:
		j.fail(fleet.Because(CUDAOld, v))
	case is.Major == want.Major && is.Minor < want.Minor:
		j.warn(fleet.Because(CUDAMinor, v))
	default:
		j.pass(fleet.Because(CUDAGood, v))
	}
}

// several reports whether there is more than one card, as far as is known.
func (j *judge) several() bool { return len(j.r.Cards.Value) > 1 || j.ordered.Count > 1 }

func (j *judge) links() {
	if j.t.off(CheckLinks) || !j.several() {
		return
	}
	if !j.r.Links.Known {
		j.unknown(CheckLinks, j.r.Links.Why)
		return
	}
	l := j.r.Links.Value
	v := fleet.Values{"pairs": fleet.Number(float64(l.Pairs)), "nvlink": fleet.Number(float64(l.NVLink)), "other": fleet.Text(l.Other)}
	switch {
	case l.Pairs == 0:
		j.unknown(CheckLinks, fleet.Because(WhyOneCard, nil))
	case l.NVLink == 0:
		j.warn(fleet.Because(LinksSlow, v))
	case l.NVLink < l.Pairs:
		j.warn(fleet.Because(LinksSome, v))
	default:
		j.pass(fleet.Because(LinksNVLink, v))
	}
}

func (j *judge) allReduce() {
	is := j.r.AllReduce.Value.PerSecond
	if j.t.off(CheckAllReduce) || !j.several() {
		return
	}
	if !j.r.AllReduce.Known {
		j.unknown(CheckAllReduce, j.r.AllReduce.Why)
		return
	}
	if is >= j.t.AllReduceFail && is < j.t.AllReduceWarn {
		j.warn(fleet.Because(AllReduceSlow, fleet.Values{"found": fleet.Text(Speed(is)), "least": fleet.Text(Speed(j.t.AllReduceWarn))}))
		return
	}
	judgeFigure(j, CheckAllReduce, known(is), j.t.AllReduceFail, Speed)
}
