package autodl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"curfew/fleet"
	"curfew/internal/httpx"
)

// oldestCUDA is what an order asks for where nobody asks for anything: the field must
// be sent, and it is the manual's own example, 11.8.
const oldestCUDA = 118

type create struct {
	GPUs     int      `json:"req_gpu_amount"`
	DiskGB   int      `json:"expand_system_disk_by_gb"`
	Spec     string   `json:"gpu_spec_uuid"`
	Image    string   `json:"image_uuid"`
	CUDAFrom int      `json:"cuda_v_from"`
	Regions  []string `json:"data_center_list,omitempty"`
	Name     string   `json:"instance_name"`
	Command  string   `json:"start_command,omitempty"`
}

// created is the new instance's id: bare, or in an object, as two notes have it.
type created string

// UnmarshalJSON takes both forms.
func (c *created) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var o oneInstance
		err := json.Unmarshal(data, &o)
		*c = created(o.UUID)
		return err
	}
	var s string
	err := json.Unmarshal(data, &s)
	*c = created(s)
	return err
}

// Order creates a pay-as-you-go Pro instance, which boots and costs at once. AutoDL
// knows no idempotency token, so the name is looked for in the list before anything is
// sent. An offer without a region leaves the region to AutoDL, which is said to
// succeed most often. AutoDL has no labels: those in the spec go nowhere.
func (a *account) Order(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
	op := "autodl: order " + spec.Name
	body, err := orderBody(spec)
	if err != nil {
		kind := fleet.Invalid
		if errors.Is(err, fleet.Unsupported) {
			kind = fleet.Unsupported
		}
		return fleet.Ref{}, &fleet.Error{Op: op, Kind: kind, Err: err}
	}
	ref, err := a.named(httpx.WithClass(ctx, httpx.Act), spec.Name)
	if err != nil || !ref.IsZero() {
		return ref, err
	}
	var id created
	if err := aboutNone(a.writeFor(ctx, op, pathCreate, body, &id)); err != nil {
		return fleet.Ref{}, err
	}
	if id == "" {
		return fleet.Ref{}, httpx.Garbled(op, true, errors.New("the answer does not name the new instance; look for it by its name"))
	}
	return fleet.Ref{Kind: fleet.KindInstance, ID: string(id)}, nil
}

// orderBody is the request of an order, unless AutoDL could not but refuse it.
func orderBody(spec fleet.OrderSpec) (create, error) {
	if err := spec.Check(); err != nil {
		return create{}, err
	}
	o := spec.Offer
	c := create{
		GPUs: o.GPU.Count, DiskGB: spec.DiskGB, Spec: o.SKU, Image: spec.Image, CUDAFrom: oldestCUDA,
		Name: spec.Name, Command: spec.Command,
	}
	if n := cudaNumber(o.CUDA); o.CUDA != "" {
		c.CUDAFrom = n
	}
	if o.Region != "" {
		c.Regions = []string{o.Region}
	}
	switch {
	case o.Charge != fleet.ChargeOnDemand:
		return c, fmt.Errorf("%w: the API orders on demand alone, and the offer is %q; nothing was sent", fleet.Unsupported, o.Charge)
	case spec.SSHKey != "":
		return c, fmt.Errorf("%w: an order takes no SSH key; add it in the console, or log in by the first password; nothing was sent", fleet.Unsupported)
	case c.GPUs < 1 || c.GPUs > mostCards:
		return c, fmt.Errorf("an order has 1 to %d cards, not %d; nothing was sent", mostCards, c.GPUs)
	case c.DiskGB > 500:
		return c, fmt.Errorf("the system disk can be enlarged by 500 GB at most, not %d; nothing was sent", c.DiskGB)
	case c.Image == "":
		return c, errors.New("no image is named; give the image_uuid of one of yours or of AutoDL's appendix; nothing was sent")
	case c.CUDAFrom <= 0:
		return c, fmt.Errorf("%q is no CUDA version; nothing was sent", o.CUDA)
	case o.Region != "" && !slices.Contains(proRegions(), o.Region):
		return c, fmt.Errorf("there is no region %q to order in; known are %s; nothing was sent", o.Region, strings.Join(proRegions(), ", "))
	}
	return c, nil
}

// named finds an instance by its name; zero where the list shows none.
func (a *account) named(ctx context.Context, name string) (fleet.Ref, error) {
	var found fleet.Ref
	err := a.each(ctx, func(it item) bool {
		if it.Name == name && state(it.Status) != fleet.StateReleased {
			found = fleet.Ref{Kind: fleet.KindInstance, ID: it.UUID}
		}
		return found.IsZero()
	})
	if err != nil {
		return fleet.Ref{}, err
	}
	return found, nil
}
