package local

import (
	"curfew/internal/look"
	"curfew/internal/proc"
)

// start starts the shell that reads the script of a look.
func (s *Source) start(script []byte) *proc.Run {
	return proc.Start(proc.Command{
		Path: s.o.Shell, Args: []string{"sh", "-s", "curfew-look"}, Env: s.o.Env, Stdin: script, Limit: look.AnswerLimit,
	})
}

// cut says why an answer is not complete, "" if it is.
func cut(r proc.Result) string {
	switch {
	case r.Over:
		return "the answer was too long"
	case r.Late:
		return "timed out"
	case r.Err != nil:
		return "the look was killed"
	}
	return ""
}
