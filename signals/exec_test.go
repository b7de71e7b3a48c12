package signals_test

import (
	"testing"

	"curfew/fleet"
)

func TestARunKeepsWhatItAskedAndSaid(t *testing.T) {
	code := 3
	begun := fleet.BoxRun{ID: "r1", StartedAt: at(0), Then: fleet.ThenStop}
	over := begun
	over.EndedAt, over.ExitCode, over.Said = at(100), &code, "epoch 3"
	for _, c := range []struct {
		name  string
		looks []fleet.Evidence
		said  string
	}{
		{"while it goes on", []fleet.Evidence{look(30, box(begun))}, ""},
		{"when its end is seen", []fleet.Evidence{look(30, box(begun)), look(120, box(over))}, "epoch 3"},
		{"when it is seen only once it is over", []fleet.Evidence{look(120, box(over))}, "epoch 3"},
		{"when its file is gone", []fleet.Evidence{look(30, box(begun)), look(120), look(240)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := fold(rules(), c.looks...)
			if len(runs) != 1 || runs[0].Then != fleet.ThenStop || runs[0].Said != c.said {
				t.Errorf("got %+v", runs)
			}
		})
	}
}
