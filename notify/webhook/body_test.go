package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"curfew/notify/notifytest"
)

// payload is the documented body, written down a second time: a field that is
// renamed or goes missing fails.
type payload struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Channel string `json:"channel"`
	news
	Title    string   `json:"title"`
	Text     *string  `json:"text"`
	Markdown string   `json:"markdown"`
	Silent   *bool    `json:"silent"`
	Actions  *[]act   `json:"actions"`
	Mentions []string `json:"mentions"`
	Together []news   `json:"together"`
}

type news struct {
	Key      *string    `json:"key"`
	Thread   *string    `json:"thread"`
	Event    string     `json:"event"`
	Severity string     `json:"severity"`
	Category *string    `json:"category"`
	At       time.Time  `json:"at"`
	Expires  *time.Time `json:"expires"`
	Reason   string     `json:"reason"`
	Subject  *struct {
		Ref      string `json:"ref"`
		Kind     string `json:"kind"`
		ID       string `json:"id"`
		Account  string `json:"account"`
		Provider string `json:"provider"`
		Name     string `json:"name"`
		Owner    string `json:"owner"`
		State    string `json:"state"`
		Region   string `json:"region"`
		GPU      string `json:"gpu"`
		GPUs     int    `json:"gpus"`
		Costs    string `json:"costs_per_hour"`
	} `json:"subject"`
	Intent *struct {
		ID       int64     `json:"id"`
		Action   string    `json:"action"`
		Goal     string    `json:"goal"`
		State    string    `json:"state"`
		Deadline time.Time `json:"deadline"`
	} `json:"intent"`
	Also []struct {
		Intent int64  `json:"intent"`
		Name   string `json:"name"`
	} `json:"also"`
}

type act struct {
	Label string `json:"label"`
	URL   string `json:"url"`
	Risky *bool  `json:"risky"`
}

func (p payload) check() error {
	var errs []error
	if p.Version != 1 || p.Channel != "hook" || !regexp.MustCompile(`^curfew-[0-9a-f]{24}$`).MatchString(p.ID) {
		errs = append(errs, fmt.Errorf("version %d, channel %q, id %q", p.Version, p.Channel, p.ID))
	}
	if p.Key == nil || p.Thread == nil || p.Category == nil || p.Text == nil || p.Silent == nil || p.Actions == nil || p.Mentions == nil || p.Together == nil {
		errs = append(errs, errors.New("a field that is always there is not"))
	} else {
		if len(p.Title) > 1000 || len(*p.Text) > 8192 || len(p.Markdown) > 8192 {
			errs = append(errs, fmt.Errorf("title has %d bytes, text %d, markdown %d", len(p.Title), len(*p.Text), len(p.Markdown)))
		}
		for _, a := range *p.Actions {
			if a.URL == "" || a.Risky == nil {
				errs = append(errs, fmt.Errorf("action %+v has no address", a))
			}
		}
	}
	if p.At.IsZero() || p.At.Location() != time.UTC {
		errs = append(errs, fmt.Errorf("at is %v, want UTC", p.At))
	}
	return errors.Join(errs...)
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: path, ContentType: "application/json",
		Header: http.Header{"User-Agent": {"curfew"}},
		Body:   func() any { return new(payload) },
		Check:  func(body any) error { return body.(*payload).check() },
	}
}
