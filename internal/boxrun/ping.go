package boxrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// pingTimeout is how long a ping may take: nothing waits longer for it.
const pingTimeout = 5 * time.Second

// Pinger tells of one run by pings.
type Pinger struct {
	base    *url.URL
	rid     string
	http    *http.Client
	started chan error // nil or why, once the start was sent
}

// NewPinger makes what pings an address: the one that curfew ping-url prints, or of
// a service that takes pings as Healthchecks.io does. The error never repeats the
// address, which is a secret.
func NewPinger(address string, client *http.Client) (*Pinger, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, errors.New("the address of the ping is not one; write https://HOST/ping/KEY, as curfew ping-url prints it")
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/start")
	u.RawPath = ""
	rid, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("draw an id for the run: %w", err)
	}
	return &Pinger{base: u, rid: rid.String(), http: client, started: make(chan error, 1)}, nil
}

// Begin sends that the run begins, and does not wait for it. It is called once.
func (p *Pinger) Begin(ctx context.Context) {
	go func() {
		ctx, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		p.started <- p.send(ctx, "start", "")
	}()
}

// End sends how the run ended, with the last lines of its output, after the start
// has been sent. It takes no longer than a ping may, and gives what went wrong with
// either.
func (p *Pinger) End(ctx context.Context, code int, said string) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	var begun error
	select {
	case begun = <-p.started:
	case <-ctx.Done():
		return errors.New("the ping of the start was not answered in time, and that of the end not sent")
	}
	return errors.Join(begun, p.send(ctx, strconv.Itoa(code), said))
}

func (p *Pinger) send(ctx context.Context, what, said string) error {
	u := p.base.JoinPath(what)
	q := u.Query()
	q.Set("rid", p.rid)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(said))
	if err != nil {
		return fmt.Errorf("ping %s: it cannot be sent", what)
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := p.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the rest is the address
		}
		return fmt.Errorf("ping %s: %w", what, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ping %s: answered %s", what, resp.Status)
	}
	return nil
}
