package policies_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/policies"
)

var update = flag.Bool("update", false, "rewrite what the stories want")

// TestStories asks the policies of each story in testdata at each of its
// moments (now) and compares their answers with want. A file's comment says what
// it is about; want is rewritten by -update.
func TestStories(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) < 25 {
		t.Fatalf("found %d stories, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			part := func(name string) []byte {
				n := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
				if n < 0 {
					t.Fatalf("%s has no part %s", file, name)
				}
				return archive.Files[n].Data
			}
			var w world
			if err := yaml.UnmarshalWithOptions(part("world.yaml"), &w, yaml.Strict()); err != nil {
				t.Fatal(err)
			}
			var ps []policyYAML
			if err := yaml.UnmarshalWithOptions(part("policy.yaml"), &ps, yaml.Strict()); err != nil {
				t.Fatal(err)
			}
			got := tell(t, w, ps, strings.Fields(string(part("now"))))
			if *update {
				for n := range archive.Files {
					if archive.Files[n].Name == "want" {
						archive.Files[n].Data = []byte(got)
					}
				}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(part("want")), got); diff != "" {
				t.Errorf("answers differ (-want +got):\n%s", diff)
			}
		})
	}
}

// tell gives the answers at each moment, in words.
func tell(t *testing.T, w world, ps []policyYAML, moments []string) string {
	t.Helper()
	words, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var heard chat
	for _, moment := range moments {
		now := clock(t, moment)
		say := func(r fleet.Reason) string {
			return strings.ReplaceAll(words.Reason(r, now), "\n", "\n\t")
		}
		v := w.at(t, now, ps)
		v.Standing = heard.standing
		fmt.Fprintf(&b, "at %s\n", moment)
		var verdicts []fleet.Verdict
		var found []fleet.Finding
		for _, p := range ps {
			v := v
			if p.Closed {
				v.Due, v.Opens = time.Time{}, clock(t, p.Opens)
			}
			if p.Due != "" {
				v.Due = clock(t, p.Due)
			}
			r := p.policy(t).Decide(v)
			for _, d := range r.Verdicts {
				fmt.Fprintf(&b, "  %s  %s  %s: %s", d.Policy, d.Ref.ID, d.Goal, say(d.Reason))
				if d.Blind {
					b.WriteString("  [blind]")
				}
				if d.Gap {
					b.WriteString("  [gap]")
				}
				if !d.Next.IsZero() {
					fmt.Fprintf(&b, "  [next %s]", words.Moment(d.Next, now))
				}
				b.WriteString("\n")
			}
			if p.Type == "balance" || p.Type == "budget" {
				money := aboutMoney(p.policy(t), v)
				found = slices.Concat(found, money.Findings, r.Findings)
				r.Findings = nil
				for _, block := range money.Blocks {
					fmt.Fprintf(&b, "  %s  orders are held back %s\n", block.Policy, in(block.Ref))
				}
			}
			for _, f := range r.Findings {
				fmt.Fprintf(&b, "  %s  %s  %s %s: %s\n", f.Policy, f.Ref.ID, f.Severity, f.Condition, say(f.Reason))
			}
			verdicts = append(verdicts, r.Verdicts...)
		}
		heard.hear(&b, found, now, say)
		instances := slices.Clone(v.Things.Instances)
		for _, r := range v.Things.Resources {
			instances = append(instances, r.Subject())
		}
		slices.SortFunc(instances, func(a, b fleet.Instance) int {
			return fleet.CompareRefs(a.Ref, b.Ref)
		})
		for _, i := range instances {
			step := policies.Combine(i, verdicts, w.can(t))
			if step.Action == fleet.Keep {
				fmt.Fprintf(&b, "  = %s keep: %s\n", i.Ref.ID, say(step.Reason))
				continue
			}
			fmt.Fprintf(&b, "  = %s %s", i.Ref.ID, step.Action)
			if step.Goal != step.Action {
				fmt.Fprintf(&b, " towards %s", step.Goal)
			}
			if effect := policies.Effect(i, step.Action); effect != step.Action {
				fmt.Fprintf(&b, ", counts as %s", effect)
			}
			var by []string
			for _, d := range step.Verdicts {
				by = append(by, d.Policy)
			}
			fmt.Fprintf(&b, ", asked by %s\n", strings.Join(by, ", "))
		}
	}
	return b.String()
}
