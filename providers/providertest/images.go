package providertest

import (
	"context"

	"curfew/fleet"
	"curfew/providers"
)

const (
	opSaveImage = "save-image"
	imageName   = "conformance"
)

func savings() []check {
	need := []Behaviour{Writes}
	can := []providers.Capability{providers.CanSaveImage, providers.CanImages}
	return []check{
		{name: "a saved image is listed and becomes ready", needs: need, can: can, test: func(s *session) {
			i := s.savable()
			ref, err := s.save(i)
			if err != nil {
				s.Fatalf("save an image of %s: %v", i.Ref, err)
			}
			if ref.Kind != fleet.KindImage || ref.ID == "" {
				s.Fatalf("the image is named %s, want kind image and an id", ref)
			}
			s.Settle()
			image := s.findResource(ref)
			if image.Ref != ref {
				s.Errorf("the list says %s, the answer %s", image.Ref, ref)
			}
			if !image.Ready {
				s.Errorf("settled, the image is not ready (%q)", image.RawState)
			}
			// Where the answer is lost, the image is found again by its name.
			if image.Name != imageName {
				s.Errorf("the image is called %q, want %q as asked", image.Name, imageName)
			}
			if src := image.Source; !src.IsZero() && src != i.Ref {
				s.Errorf("the image is said to be made of %s, want %s or nothing", src, i.Ref)
			}
			s.wantState(i.Ref, i.State, "after an image was made of it,")
		}},
		{name: "a saved image that is still being made is not ready", needs: need, can: can, test: func(s *session) {
			ref, err := s.save(s.savable())
			if err != nil {
				s.Fatalf("save an image: %v", err)
			}
			if image, listed := s.tryFindResource(ref); listed && image.Ready {
				s.Errorf("at once the image is told as ready (%q); the fake is to take its time over it", image.RawState)
			}
		}},
		{name: "a saving whose context has ended makes no image", needs: need, can: can, test: func(s *session) {
			i := s.savable()
			ctx, cancel := context.WithCancel(s.Context())
			cancel()
			err := withinContext(s, ctx, opSaveImage, func(ctx context.Context) error { return s.contextWrites()[opSaveImage](ctx, i) })
			s.wantKind(opSaveImage+" with an ended context", err, fleet.Transient, fleet.OutcomeUnknown, fleet.Other)
			s.Settle()
			if rs := s.listResources(fleet.KindImage, s.first()); len(rs) != 0 {
				s.Errorf("there is the image %s", rs[0].Ref)
			}
		}},
		{name: "a read-only account saves no image", can: can, test: func(s *session) {
			i := s.find(s.add().ID)
			s.Account = s.Account.With(providers.ReadOnlyAccount())
			ref, err := s.save(i)
			s.wantKind("a saving by a read-only account", err, fleet.ReadOnly)
			if !ref.IsZero() {
				s.Errorf("refused, it names the image %s", ref)
			}
			s.Settle()
			if rs := s.listResources(fleet.KindImage, s.first()); len(rs) != 0 {
				s.Errorf("there is the image %s", rs[0].Ref)
			}
		}},
	}
}

// savable adds an instance and brings it to where an image can be made of it.
func (s *session) savable() fleet.Instance {
	s.Helper()
	ref := s.find(s.add().ID).Ref
	if s.opts.Lacks[SavesRunning] != "" {
		return s.stopped(ref)
	}
	return s.read(ref)
}

func (s *session) save(i fleet.Instance) (fleet.Ref, error) {
	s.Helper()
	var ref fleet.Ref
	err := within(s, opSaveImage, func(ctx context.Context) (err error) {
		ref, err = s.Account.SaveImage(ctx, i, providers.ImageSpec{Name: imageName, Token: "conformance-save"})
		return err
	})
	return ref, err
}
