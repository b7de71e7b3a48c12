package main

import (
	"time"

	"github.com/rs/zerolog"

	"curfew/internal/app"
	"curfew/internal/sched"
)

// tryTimeout bounds what a command tries once.
const tryTimeout = 20 * time.Second

// opener opens what the configuration names for commands that only try it: no
// state is kept, and the few requests are not counted against the daemon's
// budget.
func (p *program) opener() *app.Opener {
	return &app.Opener{
		Registry: registry(), LookupEnv: p.lookupEnv, ReadFile: secretFile,
		World:   func(path string) (any, error) { return openWorld(path, sched.Wall{}) },
		Version: version, Log: zerolog.Nop(), Out: p.stdout,
	}
}
