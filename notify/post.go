package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxAnswer = 64 << 10
	maxCode   = 64
	maxDetail = 200
)

// Poster posts JSON to a platform and lets no secret out: not the address, which
// often is one, and none of Secrets, in any form they take in an address or in
// JSON.
type Poster struct {
	HTTP    *http.Client
	URL     string
	Header  http.Header // beside the content type
	Secrets []string
	// Sign gives headers that depend on the body, made anew for every attempt; nil:
	// there are none.
	Sign func(body []byte) http.Header
}

// Answer is what a platform answered to a post.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // its first 64 KiB
}

// RetryAfter is how long the platform wants to be left alone: as its header says in
// seconds, else otherwise, and never more than an hour.
func (a Answer) RetryAfter(otherwise time.Duration) time.Duration {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 {
		return otherwise
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// IsPage reports whether an answer is HTML, which no program gives to a post of JSON.
func (a Answer) IsPage() bool {
	body := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(a.Body, []byte("\ufeff"))))
	return bytes.HasPrefix(body, []byte("<!doctype html")) || bytes.HasPrefix(body, []byte("<html"))
}

// Post sends payload once and gives judge's verdict on the answer. Where there is
// no answer the verdict is to try again: the message may have arrived all the
// same, and twice is better than not at all.
func (p Poster) Post(ctx context.Context, payload any, judge func(Answer) Verdict) Verdict {
	return p.Redact(p.post(ctx, payload, judge))
}

// Redact takes the secrets and the address out of a verdict's words and cuts them
// short. What did not go through Post, such as a library's answer, needs it.
func (p Poster) Redact(v Verdict) Verdict {
	v.Code, v.Detail = Cut(p.redact(v.Code), maxCode), Cut(p.redact(v.Detail), maxDetail)
	return v
}

func (p Poster) post(ctx context.Context, payload any, judge func(Answer) Verdict) Verdict {
	body, err := encode(payload, false) // an escaped < takes six bytes of the platform's limit
	if err != nil {
		return Verdict{Kind: VerdictBadMessage, Code: "encode", Detail: err.Error()}
	}
	signed := slices.Clone(body.Bytes()) // sending empties the buffer
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, body)
	if err != nil {
		return Verdict{Kind: VerdictPermanent, Code: "request", Detail: cause(err)}
	}
	maps.Copy(req.Header, p.Header)
	if p.Sign != nil {
		maps.Copy(req.Header, p.Sign(signed))
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := p.HTTP.Do(req)
	if err != nil {
		return Verdict{Kind: VerdictRetry, Code: "network", Detail: cause(err)}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Verdict{Kind: VerdictRetry, Code: "network", Detail: "read the answer: " + cause(err)}
	}
	return judge(Answer{Status: resp.StatusCode, Header: resp.Header, Body: answer})
}

func encode(v any, escapeHTML bool) (*bytes.Buffer, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	err := enc.Encode(v)
	return &b, err
}

// cause is the error without the address it was about.
func cause(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return err.Error()
}

// redact takes the secrets and the address out of words that may be logged, and
// puts them on one line.
func (p Poster) redact(s string) string {
	var forms []string
	for _, secret := range append([]string{p.URL}, p.Secrets...) {
		forms = append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret))
		for _, html := range []bool{true, false} {
			if quoted, err := encode(secret, html); err == nil {
				forms = append(forms, strings.TrimSuffix(strings.TrimPrefix(quoted.String(), `"`), "\"\n"))
			}
		}
	}
	// The longest first, so that a secret inside another leaves no rest of it.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, form := range forms {
		if form != "" {
			s = strings.ReplaceAll(s, form, "<secret>")
		}
	}
	return strings.Join(strings.Fields(s), " ")
}
