package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/internal/app"
	"curfew/internal/config"
	"curfew/notify"
)

// sampleFlags say what notify test sends.
type sampleFlags struct {
	event string
	show  bool
}

const (
	allEvents = "all"
	eventTest = string(notify.EventTest)
)

// events gives the events that are wanted.
func (f sampleFlags) events() ([]string, error) {
	known := notify.SampleEvents()
	switch {
	case f.event == allEvents && f.show:
		return known, nil
	case f.event == allEvents:
		return nil, usage(fmt.Errorf("%s are not sent, to save the channel's quota; add --show, or name one event", allEvents))
	case !slices.Contains(known, f.event):
		return nil, usage(fmt.Errorf("there is no event %q; there are: %s", f.event, strings.Join(known, ", ")))
	}
	return []string{f.event}, nil
}

// sampled is a sample as it would be sent.
type sampled struct {
	Event    string `json:"event"`
	Title    string `json:"title"`
	Markdown string `json:"markdown"`
	Plain    string `json:"plain"`
}

// showSamples prints samples as the channel is given them, and sends nothing.
func (p *program) showSamples(open notify.OpenChannel, events []string, now time.Time) error {
	var all []sampled
	for _, event := range events {
		m, err := open.Render(notify.Sample(event, now), now)
		if err != nil {
			return err
		}
		all = append(all, sampled{Event: event, Title: m.Title, Markdown: m.Markdown, Plain: m.Plain})
	}
	if p.asJSON {
		return p.writeJSON(all)
	}
	for n, s := range all {
		if n > 0 {
			fmt.Fprintln(p.stdout)
		}
		if len(all) > 1 {
			fmt.Fprintf(p.stdout, "--- %s\n", s.Event)
		}
		fmt.Fprintf(p.stdout, "%s\n\n%s\n", s.Title, s.Markdown)
	}
	return nil
}

// templateProblems tries the templates of every channel, each folder once.
func templateProblems(cfg *config.Config, now time.Time) []config.Problem {
	var out []config.Problem
	seen := map[string]bool{}
	for n, c := range cfg.Notify.Channels {
		if c.Templates == "" || seen[c.Templates] {
			continue
		}
		seen[c.Templates] = true
		_, err := app.Templates(c.Templates, now.In(cfg.Timezone))
		for _, err := range each(err) {
			out = append(out, config.Problem{
				File: cfg.File, Pos: c.Pos, Path: fmt.Sprintf("notify.channels[%d].templates", n),
				What: err.Error(), Right: "change the template; docs/howto/notices.md tells what it is given",
			})
		}
	}
	return out
}

// each gives the errors that were joined into one.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
