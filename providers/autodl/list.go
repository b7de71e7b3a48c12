package autodl

import (
	"context"
	"errors"
	"fmt"

	"curfew/fleet"
	"curfew/internal/httpx"
)

const (
	pageSize = 100
	maxPages = 1000 // beyond which a page count is not believed
)

type pageRequest struct {
	Index int `json:"page_index"`
	Size  int `json:"page_size"`
}

type page struct {
	List    []item `json:"list"`
	Size    int    `json:"page_size"`
	MaxPage *int   `json:"max_page"`
	Total   *int   `json:"result_total"`
}

// Instances reads every page of the list, one request for a hundred instances.
func (a *account) Instances(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
	if s.Region != "" {
		return nil, &fleet.Error{Op: "autodl: list", Kind: fleet.Invalid, Err: fmt.Errorf("one list holds all regions; there is no scope %s", s)}
	}
	var is []fleet.Instance
	err := a.each(ctx, func(it item) bool {
		is = append(is, a.instance(it))
		return true
	})
	if err != nil {
		return nil, err
	}
	return is, nil
}

// Instance finds one instance in the list: no other call tells when it was
// started, and a Boot that differed from the list's would be worse than the
// same one request. What the list does not hold is asked for by itself, since
// absent from a list is not gone.
//
// A running instance whose price nobody configured costs one request more, for
// the price.
func (a *account) Instance(ctx context.Context, ref fleet.Ref) (fleet.Instance, error) {
	var found *item
	err := a.each(ctx, func(it item) bool {
		if it.UUID == ref.ID {
			found = &it
		}
		return found == nil
	})
	if err != nil {
		return fleet.Instance{}, err
	}
	if found == nil {
		return a.unlisted(ctx, ref.ID)
	}
	i := a.instance(*found)
	if i.State == fleet.StateRunning && i.Charge.Type == fleet.ChargeOnDemand && !i.Price.Known() && withGPU(*found) {
		a.addPrice(ctx, &i)
	}
	return i, nil
}

// unlisted tells what is known of an instance that the list does not show.
func (a *account) unlisted(ctx context.Context, uuid string) (fleet.Instance, error) {
	op := "autodl: read " + uuid
	status, err := a.status(ctx, uuid)
	if err != nil {
		return fleet.Instance{}, err
	}
	if state(status) == fleet.StateReleased {
		return fleet.Instance{
			Ref:   fleet.Ref{Kind: fleet.KindInstance, ID: uuid},
			State: fleet.StateReleased, RawState: status,
		}, nil
	}
	return fleet.Instance{}, &fleet.Error{Op: op, Kind: fleet.Transient, Err: fmt.Errorf("its status is %q, but the list does not show it", status)}
}

// status reads the bare status word of one instance.
func (a *account) status(ctx context.Context, uuid string) (string, error) {
	var status string
	err := a.readOne(ctx, "autodl: status of "+uuid, pathStatus, uuid, &status)
	return status, err
}

// each gives every instance of the list to do, until it returns false. It fails
// where the pages do not add up to one whole list: instances that come or go
// between two pages shift the rest over the border.
func (a *account) each(ctx context.Context, do func(item) bool) error {
	const op = "autodl: list"
	seen := map[string]bool{}
	var first page
	for n := 1; ; n++ {
		var p page
		if err := a.read(ctx, op, pathList, pageRequest{Index: n, Size: pageSize}, &p); err != nil {
			return aboutNone(err)
		}
		if n == 1 {
			first = p
		}
		if err := p.follows(first); err != nil {
			return httpx.Garbled(op, false, err)
		}
		for _, it := range p.List {
			if it.UUID == "" {
				return httpx.Garbled(op, false, fmt.Errorf("page %d holds an instance without a uuid", n))
			}
			if seen[it.UUID] {
				continue
			}
			seen[it.UUID] = true
			if !do(it) {
				return nil
			}
		}
		if first.Total == nil && n < first.last() && len(p.List) < p.size() {
			return httpx.Garbled(op, false, fmt.Errorf("page %d of %d holds only %d instances", n, first.last(), len(p.List)))
		}
		if n >= first.last() {
			break
		}
	}
	if first.Total != nil && *first.Total != len(seen) {
		return httpx.Garbled(op, false, fmt.Errorf("the list shows %d instances but says it has %d; it may have changed while it was read", len(seen), *first.Total))
	}
	return nil
}

// last is the number of the last page.
func (p page) last() int {
	if p.MaxPage != nil {
		return *p.MaxPage
	}
	return (*p.Total + p.size() - 1) / p.size()
}

// size is how many instances a full page holds: AutoDL may grant fewer than were
// asked for.
func (p page) size() int {
	if p.Size > 0 {
		return p.Size
	}
	return pageSize
}

// follows checks that a page belongs to the same list as the first.
func (p page) follows(first page) error {
	switch {
	case p.Total == nil && p.MaxPage == nil:
		return errors.New("answer tells neither result_total nor max_page, so that the list cannot be known to be whole")
	case !same(p.Total, first.Total), !same(p.MaxPage, first.MaxPage):
		return errors.New("the list changed while it was read")
	case p.last() > maxPages:
		return fmt.Errorf("answer tells of %d pages, which is not believed", p.last())
	}
	return nil
}

func same(a, b *int) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
