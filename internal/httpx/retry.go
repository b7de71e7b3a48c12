package httpx

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// checkRetry lets reads be tried again where that may help, and nothing else.
func checkRetry(longest time.Duration) retryablehttp.CheckRetry {
	return func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if !isRead(ctx) || ctx.Err() != nil {
			return false, nil
		}
		if err != nil {
			var e *attemptError
			return !errors.As(err, &e) || !e.final, nil
		}
		switch resp.StatusCode {
		case http.StatusTooManyRequests, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return retryAfter(resp.Header) <= longest, nil
		}
		return false, nil
	}
}

// backoff is the pause asked for, or one that doubles each time, of which a
// random half is taken off so that many clients do not come back at once.
func backoff(jitter func() float64) retryablehttp.Backoff {
	return func(first, longest time.Duration, n int, resp *http.Response) time.Duration {
		if resp != nil {
			if asked := retryAfter(resp.Header); asked > 0 {
				return min(asked, longest)
			}
		}
		d := first
		for range n {
			if d *= 2; d >= longest {
				break
			}
		}
		d = min(d, longest)
		return d/2 + time.Duration(jitter()*float64(d/2))
	}
}

// retryAfter is the pause that an answer asks for, zero where it asks for none.
// A date is measured against the answer's own, so that our clock plays no part.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if s, err := strconv.Atoi(v); err == nil {
		const most = 24 * 3600
		return time.Duration(max(0, min(s, most))) * time.Second
	}
	then, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, min(then.Sub(sent), 24*time.Hour))
}
