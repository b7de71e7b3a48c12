package fleet

import "time"

// DataTerms are the conditions under which a policy lets the data of an instance go:
// what is done with it before a release, and what goes with it afterwards.
type DataTerms struct {
	Export    *Export    `json:"export,omitempty"`
	SaveImage *SaveImage `json:"save_image,omitempty"`
	// With are the kinds of things that are deleted after a verified release, where
	// they belonged to that instance alone.
	With []ThingKind `json:"with,omitempty"`
}

// Export copies data away, from inside the instance. Run and Verify are templates of
// commands for a login shell.
type Export struct {
	// Require are patterns of files: each must match one that changed since the run
	// began.
	Require []string      `json:"require,omitempty"`
	Run     string        `json:"run"`
	Verify  string        `json:"verify,omitempty"` // must end well, too
	Timeout time.Duration `json:"timeout"`          // for all of it
}

// SaveImage makes an image of the instance. Name is a template.
type SaveImage struct {
	Name     string        `json:"name"`
	KeepLast int           `json:"keep_last,omitempty"` // of those it made of one instance; zero: all
	Timeout  time.Duration `json:"timeout"`
}

// SecuredBy says how data was secured.
type SecuredBy string

// The ways of securing data.
const (
	SecuredByExport SecuredBy = "export"
	SecuredByImage  SecuredBy = "image"
)

// Secured is what became of securing an instance's data for one policy, in one Boot.
// It is void in another Boot, after another run, and after a busy look.
type Secured struct {
	Ref    Ref       `json:"ref"`
	Boot   Boot      `json:"boot"`
	Policy string    `json:"policy"`
	By     SecuredBy `json:"by"`
	Run    string    `json:"run,omitempty"` // the last run that had ended
	// StartedAt is when it was begun; a row without an end was interrupted.
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	OK        bool      `json:"ok,omitempty"`
	Why       Reason    `json:"why,omitzero"`    // why not
	Tries     int       `json:"tries,omitempty"` // for the same run, this one included
	// VoidAt is the first busy look that began after it did: what there is now may be
	// other data.
	VoidAt time.Time `json:"void_at,omitzero"`
	Image  Ref       `json:"image,omitzero"`
	Name   string    `json:"name,omitempty"` // of the image: unique, so that it is found again
	// Earlier are the images that were made in this way in the same Boot before.
	Earlier []Ref `json:"earlier,omitempty"`
}

// How often securing is tried for one run, and how long after it failed an instance
// that still runs is tried again: what fails once may be a network, what fails twice
// is for people.
const (
	SecureTries = 2
	SecureAgain = time.Hour
)

// Failed reports whether it was tried and did not succeed.
func (s Secured) Failed() bool { return !s.EndedAt.IsZero() && !s.OK }

// Again is when it may be tried once more after it failed; zero: not for this run.
func (s Secured) Again() time.Time {
	if !s.Failed() || s.Tries >= SecureTries {
		return time.Time{}
	}
	return s.EndedAt.Add(SecureAgain)
}

// Left is a thing that belonged to an instance alone when that was released, and that
// the policy which released it wants deleted.
type Left struct {
	Ref        Ref       `json:"ref"`
	Instance   Ref       `json:"instance"`
	Name       string    `json:"name,omitempty"` // the instance's
	Policy     string    `json:"policy"`
	ReleasedAt time.Time `json:"released_at"`
	// Keep is set for an image that is left since so many newer ones are kept: then the
	// instance may still be there, and ReleasedAt is when the newest was ready.
	Keep int `json:"keep,omitempty"`
	// Over is why it is not deleted any more; zero while it is wanted.
	Over Reason `json:"over,omitzero"`
}

// Ways are the ways of securing that the terms ask for, in the order in which they
// are gone.
func (d *DataTerms) Ways() []SecuredBy {
	var ways []SecuredBy
	if d != nil && d.Export != nil {
		ways = append(ways, SecuredByExport)
	}
	if d != nil && d.SaveImage != nil {
		ways = append(ways, SecuredByImage)
	}
	return ways
}

// RecordOf gives what became of securing data in one way for the policy after the
// run, if that still counts in the Boot.
func RecordOf(all []Secured, boot Boot, policy, run string, by SecuredBy) (Secured, bool) {
	for _, s := range all {
		if s.By == by && s.Policy == policy && s.Boot.Same(boot) && s.Run == run && s.VoidAt.IsZero() {
			return s, true
		}
	}
	return Secured{}, false
}

// Secured reports whether everything that the terms ask for was done for the policy
// in the Boot after its last run, whose id is given; empty where there was none.
// Terms that ask for nothing secure nothing.
func (d *DataTerms) Secured(boot Boot, policy, run string, all []Secured) bool {
	ways := d.Ways()
	for _, by := range ways {
		if s, ok := RecordOf(all, boot, policy, run, by); !ok || !s.OK {
			return false
		}
	}
	return len(ways) > 0
}

// Unsecured gives the first thing that the terms ask for and that was tried and
// failed. At a time at which it may be tried again it has not failed yet; the zero
// time asks whether it ever did.
func (d *DataTerms) Unsecured(boot Boot, policy, run string, all []Secured, now time.Time) (Secured, bool) {
	for _, by := range d.Ways() {
		s, ok := RecordOf(all, boot, policy, run, by)
		again := s.Again()
		if ok && s.Failed() && (now.IsZero() || again.IsZero() || now.Before(again)) {
			return s, true
		}
	}
	return Secured{}, false
}

// ImageNext reports whether all that is missing of what the terms ask for is the
// image, which can be made of a stopped instance, too, and has not failed.
func (d *DataTerms) ImageNext(boot Boot, policy, run string, all []Secured, now time.Time) bool {
	missing := false
	for _, by := range d.Ways() {
		s, ok := RecordOf(all, boot, policy, run, by)
		switch {
		case ok && s.OK:
		case by != SecuredByImage:
			return false
		default:
			missing = true
		}
	}
	_, failed := d.Unsecured(boot, policy, run, all, now)
	return missing && !failed
}
