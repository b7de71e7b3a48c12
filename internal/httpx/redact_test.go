package httpx

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
)

func TestRedactor(t *testing.T) {
	r := NewRedactor(func() []string { return []string{"", "abc", "abcdef", `q"u\ote`, "a b/c"} })
	for in, want := range map[string]string{
		"":                       "",
		"nothing here":           "nothing here",
		"token abcdef!":          "token <secret>!",
		"abc then abcdef":        "<secret> then <secret>",
		`{"p":"q\"u\\ote"}`:      `{"p":"<secret>"}`,
		"?k=a+b%2Fc&l=a%20b%2Fc": "?k=<secret>&l=<secret>",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := (*Redactor)(nil).String("abc"); got != "abc" {
		t.Errorf("a nil redactor changed the text to %q", got)
	}
}

func TestRedactedErrorKeepsItsIdentityAndHidesItsCause(t *testing.T) {
	cause := errors.New("refused abc")
	err := NewRedactor(func() []string { return []string{"abc"} }).
		Error(fmt.Errorf("asking: %w", &url.Error{Op: "Get", URL: "http://x/?sign=zzz", Err: cause}))
	if err.Error() != "refused <secret>" {
		t.Errorf("text is %q", err)
	}
	if !errors.Is(err, cause) {
		t.Error("errors.Is no longer knows the cause")
	}
	if _, out := errors.AsType[*url.Error](err); out {
		t.Error("the cause, with its URL, can be taken out")
	}
	if NewRedactor(nil).Error(nil) != nil {
		t.Error("no error became one")
	}
}
