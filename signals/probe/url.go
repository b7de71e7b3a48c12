package probe

import (
	"context"
	"io"
	"mime"
	"net/http"

	"curfew/fleet"
)

// Why what a URL answers says nothing.
const (
	ReasonStatus   fleet.Code = "probe.status"
	ReasonRedirect fleet.Code = "probe.redirect"
	ReasonType     fleet.Code = "probe.type" // neither text nor JSON
)

// get asks a URL. Only a 200 from that very address is an answer.
func (s *Source) get(ctx context.Context, _ fleet.Ref, url string) (fleet.Activity, fleet.Reason) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fleet.Unknown, s.failed(err)
	}
	req.Header.Set("Accept", "text/plain, application/json")
	req.Header.Set("User-Agent", s.o.UserAgent)
	for name, value := range s.o.Header {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return fleet.Unknown, s.timedOut()
		}
		return fleet.Unknown, s.failed(err)
	}
	defer resp.Body.Close()
	status := fleet.Values{"status": fleet.Number(float64(resp.StatusCode))}
	switch {
	case resp.StatusCode == http.StatusNoContent:
		return fleet.Unknown, fleet.Because(ReasonEmpty, nil)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fleet.Unknown, fleet.Because(ReasonRedirect, status)
	case resp.StatusCode != http.StatusOK:
		return fleet.Unknown, fleet.Because(ReasonStatus, status)
	}
	kind := resp.Header.Get("Content-Type")
	if kind != "" { // small servers give none
		kind, _, err = mime.ParseMediaType(kind)
		if err != nil || kind != "text/plain" && kind != "application/json" {
			return fleet.Unknown, fleet.Because(ReasonType, fleet.Values{"type": fleet.Text(s.short(resp.Header.Get("Content-Type")))})
		}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case len(body) > answerLimit:
		return fleet.Unknown, tooLong()
	case err != nil && ctx.Err() != nil:
		return fleet.Unknown, s.timedOut()
	case err != nil:
		return fleet.Unknown, s.failed(err)
	}
	return s.read(body, kind == "application/json")
}
