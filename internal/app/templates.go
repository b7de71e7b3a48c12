package app

import (
	"errors"
	"os"
	"time"

	"curfew/notify"
)

// Templates reads the templates of a folder, and tries each on samples. An error joins
// all that is wrong, each with its place.
func Templates(dir string, now time.Time) (*notify.Templates, error) {
	t, err := notify.ReadTemplates(dir, os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	if errs := t.Check(now); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return t, nil
}
