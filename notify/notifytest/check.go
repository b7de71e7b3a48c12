package notifytest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/notify"
)

// Case is one answer of the platform and how it must be judged. Want's Detail is
// not compared.
type Case struct {
	Name  string // a sentence
	Reply Reply
	Want  notify.Verdict
}

// Judge sends m once per case and compares the verdict; no secret may show in
// it.
func Judge(t *testing.T, open func(t *testing.T, baseURL string) notify.Channel, e Expect, m notify.Message, secrets []string, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			server := NewServer(t, e, c.Reply)
			got := open(t, server.URL).Send(t.Context(), m)
			if diff := cmp.Diff(c.Want, got, cmpopts.IgnoreFields(notify.Verdict{}, "Detail")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\ndetail: %s", diff, got.Detail)
			}
			NoSecret(t, got, secrets...)
		})
	}
}

// NoSecret fails the test where a secret, in any form it takes in an address,
// shows in what: a verdict, an error, a log.
func NoSecret(t testing.TB, what any, secrets ...string) {
	t.Helper()
	if found := FindSecret(what, secrets...); found != "" {
		t.Errorf("a secret (%q) shows in %+v", found, what)
	}
}

// FindSecret gives the first form of a secret that shows in what, or "".
func FindSecret(what any, secrets ...string) string {
	shown := fmt.Sprintf("%+v %#v %q", what, what, fmt.Sprint(what))
	if err, ok := what.(error); ok {
		for ; err != nil; err = errors.Unwrap(err) {
			shown += " " + err.Error()
		}
	}
	for _, secret := range secrets {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if secret != "" && strings.Contains(shown, form) {
				return form
			}
		}
	}
	return ""
}

// Golden compares got with testdata/name; with update it writes it instead.
func Golden(t testing.TB, update bool, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
