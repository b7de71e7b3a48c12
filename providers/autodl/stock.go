package autodl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
)

// mostCards is how many cards one order may have.
const mostCards = 4

// proRegions are the regions in which Pro instances can be ordered, in the words of
// orders. What instances are then shown in is named otherwise (beijingDC2 is shown as
// bj-B2), and neither word can be used for the other.
func proRegions() []string { return []string{"westDC3", "beijingDC2"} }

// stockQuery asks for one region. AutoDL answers of one that it does not know as if
// all were sold out, so that none is sent that was not checked here.
type stockQuery struct {
	Region   string `json:"region_sign"`
	CUDAFrom int    `json:"cuda_v_from,omitempty"` // 124 is 12.4
}

// idle is the stock of one model.
type idle struct {
	Idle *int `json:"idle_gpu_num"`
}

// Offers asks how many cards of each model are idle, one request for each region and
// CUDA version that is asked about. It is the stock of elastic deployment, counted in
// single cards: two idle ones may sit on two hosts, and orders of Pro instances were
// seen to be sold out while it told of many. A model that has no Pro spec is shown,
// and cannot be ordered.
func (a *account) Offers(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error) {
	const op = "autodl: stock"
	regions, err := q.RegionsOf(proRegions())
	if err != nil {
		return nil, &fleet.Error{Op: op, Kind: fleet.Invalid, Err: fmt.Errorf("%w; nothing was sent", err)}
	}
	versions, err := q.CUDAs()
	if err != nil {
		return nil, &fleet.Error{Op: op, Kind: fleet.Invalid, Err: fmt.Errorf("%w; nothing was sent", err)}
	}
	for _, v := range versions {
		if v != "" && cudaNumber(v) == 0 {
			return nil, &fleet.Error{Op: op, Kind: fleet.Invalid, Err: fmt.Errorf("AutoDL cannot be asked for CUDA %s; write one such as 12.4; nothing was sent", v)}
		}
	}
	var out []fleet.Offer
	for _, region := range regions {
		for _, cuda := range versions {
			offers, err := a.stockIn(ctx, region, cuda, q.Wants)
			if err != nil {
				return nil, err
			}
			out = append(out, offers...)
		}
	}
	return out, nil
}

func (a *account) stockIn(ctx context.Context, region, cuda string, wants []fleet.Want) ([]fleet.Offer, error) {
	op := "autodl: stock of " + region
	seen := a.now()
	body := stockQuery{Region: region, CUDAFrom: cudaNumber(cuda)}
	var answer []map[string]idle
	if err := a.read(httpx.WithClass(ctx, httpx.Hunt), op, pathStock, body, &answer); err != nil {
		return nil, noStock(aboutNone(err))
	}
	var out []fleet.Offer
	for _, one := range answer {
		for _, model := range slices.Sorted(maps.Keys(one)) {
			n := one[model].Idle
			if n == nil || *n < 0 || model == "" {
				return nil, httpx.Garbled(op, false, fmt.Errorf("the stock of %q is not told as a number of idle cards", model))
			}
			for _, cards := range sizes(model, wants) {
				out = append(out, a.offer(region, cuda, model, *n, cards, seen))
			}
		}
	}
	return out, nil
}

// sizes gives the numbers of cards to offer of a model: one, and what is wanted of it.
func sizes(model string, wants []fleet.Want) []int {
	out := []int{1}
	for _, w := range wants {
		if n := w.Cards(); n <= mostCards && slices.ContainsFunc(w.GPUs, fleet.GPU{Model: model}.Is) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (a *account) offer(region, cuda, model string, idle, cards int, seen time.Time) fleet.Offer {
	s := specOf(model)
	gpu := fleet.GPU{Model: model, Count: cards, MemoryGB: s.memoryGB}
	return fleet.Offer{
		Region: region, SKU: s.id, GPU: gpu, CUDA: cuda, Charge: fleet.ChargeOnDemand,
		Price: a.configured(gpu, s.id), Available: idle / cards, Advisory: true, SeenAt: seen,
	}
}

// cudaNumber writes 12.4 as AutoDL does, 124. A version that cannot be written so, and
// none at all, is zero.
func cudaNumber(version string) int {
	major, minor, dotted := strings.Cut(version, ".")
	if !dotted {
		minor = "0"
	}
	n, err := strconv.Atoi(major + minor)
	if err != nil || len(major) != 2 || len(minor) != 1 || n < 100 {
		return 0
	}
	return n
}

// noStock says of a refusal what it most likely means.
func noStock(err error) error {
	e, ok := errors.AsType[*fleet.Error](err)
	r, refused := errors.AsType[*refusal](err)
	if !ok || !refused || e.Kind != fleet.Unauthorized || r.code == "AuthorizeFailed" || r.code == "TORealName" {
		return err
	}
	return &fleet.Error{Op: e.Op, Kind: e.Kind, RetryAfter: e.RetryAfter, Err: fmt.Errorf("this account may not ask for stock, which AutoDL may keep for accounts verified as a company; ordering does not need it: %w", r)}
}
