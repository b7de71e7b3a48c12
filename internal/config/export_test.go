package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/policies"
)

func TestAnExportIsReadAsItIsWritten(t *testing.T) {
	p := load(t, "testdata/design.yaml").Policies[1]
	want := &fleet.DataTerms{Export: &fleet.Export{
		Require: []string{"/root/out/*.safetensors"},
		Run:     "rclone copy /root/out oss:lab/{{.Name}}-{{.ID}}",
		Verify:  "rclone check --one-way /root/out oss:lab/{{.Name}}-{{.ID}}",
		Timeout: 30 * time.Minute,
	}}
	if diff := cmp.Diff(want, p.Terms.Data); p.Name != "done-and-saved" || diff != "" {
		t.Errorf("%s (-want +got):\n%s", p.Name, diff)
	}
	training, ok := p.Policy.(policies.Training)
	if !ok || training.Then != fleet.Release || cmp.Diff(want, training.Terms.Data) != "" {
		t.Errorf("policy %+v", p.Policy)
	}
	for _, p := range load(t, "testdata/ok/everything.yaml").Policies {
		if p.Name == "saved" && p.Terms.Data.Export.Timeout == 2*time.Hour && len(p.Terms.Data.Export.Require) == 2 {
			return
		}
	}
	t.Error("everything.yaml exports nothing")
}
