package fleet

import (
	"slices"
	"strings"
)

// Why an offer is not what is wanted.
const (
	codeOfferNoWant    Code = "offer.no-want"
	codeOfferModel     Code = "offer.model"
	codeOfferCount     Code = "offer.count"
	codeOfferCharge    Code = "offer.charge"
	codeOfferRegion    Code = "offer.region"
	codeOfferGPUMemory Code = "offer.gpu-memory"
	codeOfferCPU       Code = "offer.cpu"
	codeOfferMemory    Code = "offer.memory"
	codeOfferUnsaid    Code = "offer.unsaid"
	codeOfferCUDA      Code = "offer.cuda"
	codeOfferPrice     Code = "offer.price"
	codeOfferCurrency  Code = "offer.currency"
	codeOfferNoPrice   Code = "offer.no-price"
	codeOfferSoldOut   Code = "offer.sold-out"
)

// What an offer may leave unsaid.
const (
	codeUnsaidGPUMemory Code = "offer.unsaid-gpu-memory"
	codeUnsaidCPU       Code = "offer.unsaid-cpu"
	codeUnsaidMemory    Code = "offer.unsaid-memory"
	codeUnsaidCUDA      Code = "offer.unsaid-cuda"
)

// Match reports whether an offer is what is wanted, and else why not. What is asked
// for and not told is not there. An offer that is sold out by now is named so only
// when all else fits.
func (w Want) Match(o Offer) (bool, Reason) {
	for _, check := range [...]func(Offer) Reason{
		w.matchCard, w.matchCharge, w.matchRegion, w.matchSize, w.matchCUDA, w.matchPrice, matchStock,
	} {
		if why := check(o); !why.IsZero() {
			return false, why
		}
	}
	return true, Reason{}
}

func (w Want) matchCard(o Offer) Reason {
	if len(w.GPUs) == 0 {
		return Because(codeOfferNoWant, nil)
	}
	if !slices.ContainsFunc(w.GPUs, o.GPU.Is) {
		return Because(codeOfferModel, Values{"is": Text(o.GPU.Model), "want": Text(strings.Join(w.GPUs, ", "))})
	}
	if o.GPU.Count != w.Cards() {
		return Because(codeOfferCount, Values{"is": Number(float64(o.GPU.Count)), "want": Number(float64(w.Cards()))})
	}
	return Reason{}
}

func (w Want) matchCharge(o Offer) Reason {
	if o.Charge != ChargeUnknown && (o.Charge == ChargeOnDemand && len(w.Charges) == 0 || slices.Contains(w.Charges, o.Charge)) {
		return Reason{}
	}
	return Because(codeOfferCharge, Values{"is": Text(string(o.Charge))})
}

func (w Want) matchRegion(o Offer) Reason {
	if len(w.Regions) == 0 || likeAny(w.Regions, o.Region) || o.Zone != "" && likeAny(w.Regions, o.Zone) {
		return Reason{}
	}
	return Because(codeOfferRegion, Values{"is": Text(o.Region), "want": Text(strings.Join(w.Regions, ", "))})
}

func (w Want) matchSize(o Offer) Reason {
	card := o.GPU.identify()
	for _, c := range [...]struct {
		is, want     int
		less, unsaid Code
	}{
		{card.memoryGB, w.MinGPUMemoryGB, codeOfferGPUMemory, codeUnsaidGPUMemory},
		{o.CPUCores, w.MinCPUCores, codeOfferCPU, codeUnsaidCPU},
		{o.MemoryGB, w.MinMemoryGB, codeOfferMemory, codeUnsaidMemory},
	} {
		switch {
		case c.want <= 0 || c.is >= c.want:
		case c.is <= 0:
			return unsaid(c.unsaid)
		default:
			return Because(c.less, Values{"is": Number(float64(c.is)), "want": Number(float64(c.want))})
		}
	}
	return Reason{}
}

func (w Want) matchCUDA(o Offer) Reason {
	if w.CUDA == "" {
		return Reason{}
	}
	if o.CUDA == "" {
		return unsaid(codeUnsaidCUDA)
	}
	_, _, wanted := parseCUDA(w.CUDA)
	if _, _, told := parseCUDA(o.CUDA); !wanted || !told || compareCUDA(o.CUDA, w.CUDA) < 0 {
		return Because(codeOfferCUDA, Values{"is": Text(o.CUDA), "want": Text(w.CUDA)})
	}
	return Reason{}
}

func unsaid(what Code) Reason {
	return Because(codeOfferUnsaid, Values{"what": Nested(Reason{Code: what})})
}

func (w Want) matchPrice(o Offer) Reason {
	limit, is := w.MaxPrice, o.Price.PerHour
	switch {
	case limit == Money{}:
		return Reason{}
	case !o.Price.Known():
		return Because(codeOfferNoPrice, Values{"want": Amount(limit)})
	case is.Currency != limit.Currency:
		return Because(codeOfferCurrency, Values{"is": Amount(is), "want": Amount(limit)})
	case is.Micros > limit.Micros:
		return Because(codeOfferPrice, Values{"is": Amount(is), "want": Amount(limit)})
	}
	return Reason{}
}

func matchStock(o Offer) Reason {
	if o.Available == 0 || o.Available < SomeAvailable {
		return Because(codeOfferSoldOut, nil)
	}
	return Reason{}
}
