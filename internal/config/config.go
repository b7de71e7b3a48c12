// Package config turns the YAML file into values, strictly: a key that is not
// known is an error at every level, and all problems are told at once, each with
// its place and what would be right.
//
// The order of work is parse, decode, defaults, validate. None of it touches the
// world: secrets are named and not read, no account is opened, and there is no
// clock. What the file says in expressions (matches, schedules, patterns) is
// compiled here and handed on as functions.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/advice"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/providers"
)

// Registry is what the program can talk to, so that the file can be checked
// against it without loading any of it.
type Registry struct {
	Providers []providers.Kind
	Channels  []notify.Kind
	// Zone is the time zone where the file names none; nil is UTC.
	Zone *time.Location
}

// Config is a whole configuration, valid in itself.
type Config struct {
	File     string
	Mode     fleet.Mode // dry-run where the file says nothing
	Timezone *time.Location
	Language text.Language // empty: not said
	State    string        // sqlite: and a path
	History  time.Duration // how long facts are kept
	Accounts []Account
	Signals  []Signal
	Ping     Ping
	// Listen is where the page is served, on which people answer announcements; empty:
	// nowhere.
	Listen string
	Web    Web
	// PublicURL is where people and instances reach this curfew; empty: not said.
	PublicURL string
	Protect   Protect
	// People are those who use machines, for messages and budgets.
	People []Person
	Caps   Caps
	// Hold is how long people may hold things without anybody else's yes.
	Hold     HoldLimits
	Policies []Policy
	Notify   Notify
	// Advice says from when on the digest tells what a run could do better.
	Advice advice.Limits
	// Rates are prices that no account tells, for curfew estimate.
	Rates Rates
	// Accept says what a fresh machine must come up to, for curfew accept.
	Accept Acceptance
}

// Ping is the listener for pings.
type Ping struct {
	Listen string // address and port; empty: there is none
}

// Protect says what is never acted on.
type Protect struct {
	Labels map[string]string
	Names  []string // patterns as path.Match reads them
}

// Caps are the most that may be done per action.
type Caps struct {
	Start, Stop, Release, Delete, Order, Money Cap
}

// Cap is how many things, and what share of the matched running ones, may be
// acted on in a rolling hour. Zero is no cap of that sort.
type Cap struct {
	PerHour int
	Percent int
}

// Why there is no configuration to read.
const (
	ReasonNoFile fleet.Code = "config.no-file"
	ReasonUnread fleet.Code = "config.unread"
)

// Places lists where the file is looked for when none is named.
func Places(home string) []string {
	places := []string{"curfew.yaml"}
	if home != "" {
		places = append(places, filepath.Join(home, ".curfew", "curfew.yaml"))
	}
	return append(places, "/etc/curfew/curfew.yaml")
}

// Load reads the named file, or the first of [Places] that is there, and parses
// it. There is no default configuration: a file that is missing is an error.
func Load(path, home string, reg Registry) (*Config, error) {
	places := []string{path}
	if path == "" {
		places = Places(home)
	}
	for _, place := range places {
		data, err := os.ReadFile(place)
		switch {
		case err == nil:
			return Parse(place, data, reg)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, &fleet.ReasonError{
				Reason: fleet.Because(ReasonUnread, fleet.Values{"why": fleet.Text(err.Error())}),
				Err:    fmt.Errorf("read configuration: %w", err),
			}
		}
	}
	looked := strings.Join(places, ", ")
	return nil, &fleet.ReasonError{
		Reason: fleet.Because(ReasonNoFile, fleet.Values{"places": fleet.Text(looked)}),
		Err: fmt.Errorf("no configuration found; looked for %s; start from deploy/curfew.example.yaml, or name one with --config FILE: %w",
			looked, fs.ErrNotExist),
	}
}

// Parse reads a configuration. name is the file's path: it is told in messages,
// and relative paths inside the file start from its folder. An error is
// *[Problems].
func Parse(name string, data []byte, reg Registry) (*Config, error) {
	r := &reader{file: name, reg: reg, cfg: &Config{File: name}}
	if root, ok := r.parse(data); ok {
		r.config(root)
	}
	if len(r.problems) > 0 {
		r.problems.sort()
		return nil, &r.problems
	}
	return r.cfg, nil
}
