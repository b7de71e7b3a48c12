package httpx

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Redacted is what stands in the place of a secret.
const Redacted = "<secret>"

// Redactor takes known secrets out of texts. It may be used by several
// goroutines if its source of secrets may.
type Redactor struct{ secrets func() []string }

// NewRedactor makes a Redactor of what secrets gives at each use; nil is
// nothing.
func NewRedactor(secrets func() []string) *Redactor { return &Redactor{secrets} }

// String gives s with every secret replaced, also where it is written as in a
// URL or in JSON.
func (r *Redactor) String(s string) string {
	if r == nil || r.secrets == nil || s == "" {
		return s
	}
	var forms []string
	for _, secret := range r.secrets() {
		if secret == "" {
			continue
		}
		forms = append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret))
		if j, err := json.Marshal(secret); err == nil {
			forms = append(forms, strings.Trim(string(j), `"`))
		}
	}
	// The longest first, so that a secret inside another leaves no rest of it.
	slices.SortFunc(forms, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	for _, f := range forms {
		s = strings.ReplaceAll(s, f, Redacted)
	}
	return s
}

// Sprintf is fmt.Sprintf with secrets replaced.
func (r *Redactor) Sprintf(format string, v ...any) string {
	return r.String(fmt.Sprintf(format, v...))
}

// Error gives an error with the redacted text of err. errors.Is still asks the
// cause; the cause itself cannot be taken out.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	return &failure{text: r.String(withoutURL(err).Error()), cause: err, sent: true}
}

// withoutURL is err without the URL that net/http puts around it: its query may
// hold a signature, and what was asked is already in the operation's name.
func withoutURL(err error) error {
	for {
		var u *url.Error
		if !errors.As(err, &u) || u.Err == nil {
			return err
		}
		err = u.Err
	}
}
