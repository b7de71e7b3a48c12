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
	Why       Reason    `json:"why,omitzero"` // why not
	Image     Ref       `json:"image,omitzero"`
	Name      string    `json:"name,omitempty"` // of the image: unique, so that it is found again
}

// Left is a thing that belonged to an instance alone when that was released, and that
// the policy which released it wants deleted.
type Left struct {
	Ref        Ref       `json:"ref"`
	Instance   Ref       `json:"instance"`
	Name       string    `json:"name,omitempty"` // the instance's
	Policy     string    `json:"policy"`
	ReleasedAt time.Time `json:"released_at"`
}

// Secured reports whether everything that the terms ask for was done for the policy
// in the Boot. Terms that ask for nothing secure nothing.
func (d DataTerms) Secured(boot Boot, policy string, all []Secured) bool {
	if d.Export == nil && d.SaveImage == nil {
		return false
	}
	done := func(by SecuredBy) bool {
		for _, s := range all {
			if s.By == by && s.Policy == policy && s.Boot.Same(boot) && s.OK {
				return true
			}
		}
		return false
	}
	return (d.Export == nil || done(SecuredByExport)) && (d.SaveImage == nil || done(SecuredByImage))
}
