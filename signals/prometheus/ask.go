package prometheus

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"curfew/fleet"
)

// Why no answer came, or one that cannot be read.
const (
	ReasonFailed   fleet.Code = "prometheus.failed"
	ReasonTimeout  fleet.Code = "prometheus.timeout"
	ReasonStatus   fleet.Code = "prometheus.status"
	ReasonRedirect fleet.Code = "prometheus.redirect"
	ReasonType     fleet.Code = "prometheus.type" // no JSON
	ReasonLong     fleet.Code = "prometheus.long"
)

// answerLimit is how many bytes of an answer are read: the figures of many thousand
// instances. More is none.
const answerLimit = 8 << 20

// ask asks a query, now, and gives what it says of anything. The reason is zero
// where that can be used.
func (s *Source) ask(ctx context.Context, query string) ([]sample, fleet.Reason) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	form := url.Values{"query": {query}, "timeout": {s.o.Timeout.String()}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, s.failed(err)
	}
	for name, value := range s.o.Header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", s.o.UserAgent)
	// Not sent: says that it may be sent again where a connection turns out closed.
	req.Header["Idempotency-Key"] = nil
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.broken(ctx, err)
	}
	defer resp.Body.Close()
	status := fleet.Values{"status": fleet.Number(float64(resp.StatusCode))}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, fleet.Because(ReasonRedirect, status)
	}
	kind := resp.Header.Get("Content-Type")
	word, _, err := mime.ParseMediaType(kind)
	isJSON := kind == "" || err == nil && word == "application/json"
	good := resp.StatusCode == http.StatusOK
	switch {
	case !isJSON && !good:
		return nil, fleet.Because(ReasonStatus, status)
	case !isJSON:
		return nil, fleet.Because(ReasonType, fleet.Values{"type": fleet.Text(s.short(kind))})
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case len(body) > answerLimit:
		return nil, fleet.Because(ReasonLong, fleet.Values{"limit": fleet.Number(answerLimit >> 20)})
	case err != nil:
		return nil, s.broken(ctx, err)
	}
	samples, why := s.read(body)
	if !good && why.Code != ReasonError {
		return nil, fleet.Because(ReasonStatus, status)
	}
	return samples, why
}

// broken says that a question got no answer, or half of one.
func (s *Source) broken(ctx context.Context, err error) fleet.Reason {
	if ctx.Err() != nil {
		return fleet.Because(ReasonTimeout, fleet.Values{"timeout": fleet.Span(s.o.Timeout)})
	}
	return s.failed(err)
}

func (s *Source) failed(err error) fleet.Reason {
	return fleet.Because(ReasonFailed, fleet.Values{"error": fleet.Text(s.short(s.redact.Error(err).Error()))})
}
