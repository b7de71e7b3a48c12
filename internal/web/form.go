package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// form is what the form of a value's page holds: when the page was opened, sealed
// together with the value. Who only follows links never sends it back.
func (s *server) form(value string) string {
	at := strconv.FormatInt(s.o.Now().Unix(), 36)
	return at + "." + s.seal(at, value)
}

// fits reports whether a form is of a page of this value that was opened not long ago.
func (s *server) fits(form, value string) bool {
	at, sealed, ok := strings.Cut(form, ".")
	seconds, err := strconv.ParseInt(at, 36, 64)
	if !ok || err != nil || subtle.ConstantTimeCompare([]byte(sealed), []byte(s.seal(at, value))) != 1 {
		return false
	}
	age := s.o.Now().Sub(time.Unix(seconds, 0))
	return age >= -time.Minute && age < formLasts
}

func (s *server) seal(at, value string) string {
	h := hmac.New(sha256.New, []byte(s.o.Key))
	h.Write([]byte("curfew form\x00" + at + "\x00" + value))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// bears reports whether a request shows the token.
func bears(r *http.Request, token string) bool {
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(shown), []byte(token)) == 1
}
