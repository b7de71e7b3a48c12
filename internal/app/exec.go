package app

import (
	"slices"
	"strings"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
)

// execs tells how a configuration takes the runs of curfew exec --then stop.
func (a *App) execs(rt *runtime) ctl.Exec {
	account, machine, here := rt.cfg.Local()
	p, ok := rt.cfg.Exec()
	if !here || !ok {
		return ctl.Exec{}
	}
	out := ctl.Exec{Machine: machine.Name, Mode: milder(p.Terms.Mode, milder(rt.cfg.Mode, account.Mode))}
	if slices.ContainsFunc(rt.sources, func(s *source) bool { return s.cfg.Type == "local" }) {
		o := Opener{LookupEnv: a.o.LookupEnv}
		for _, v := range o.lookEnv() {
			if home, ok := strings.CutPrefix(v, "HOME="); ok {
				out.Home = home
			}
		}
	}
	return out
}

// Protects says what in a configuration protects an instance; nothing is the zero
// reason.
func Protects(cfg *config.Config, i fleet.Instance) fleet.Reason {
	return (&runtime{cfg: cfg}).protection(i).By
}
