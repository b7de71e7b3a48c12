package notify_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
)

func TestPick(t *testing.T) {
	routes := []notify.Route{
		{Categories: []fleet.Category{fleet.CategoryAct, fleet.CategoryMoney}, To: []string{"wx", "lab"}},
		{Categories: []fleet.Category{fleet.CategoryMoney, fleet.CategoryStock}, To: []string{"boss"}},
		{To: []string{"lab"}},
	}
	all := []string{"wx", "lab", "boss"}
	for name, c := range map[string]struct {
		routes   []notify.Route
		category fleet.Category
		want     []string
	}{
		"the first route that takes the category is the only one": {routes, fleet.CategoryMoney, []string{"wx", "lab"}},
		"a later route takes what earlier ones do not":            {routes, fleet.CategoryStock, []string{"boss"}},
		"a route without categories takes the rest":               {routes, fleet.CategoryHealth, []string{"lab"}},
		"no route for it means every channel":                     {routes[:2], fleet.CategoryHealth, all},
		"no routes means every channel":                           {nil, fleet.CategoryAct, all},
	} {
		t.Run(name, func(t *testing.T) {
			got := notify.Pick(c.routes, notify.Notice{Category: c.category}, all)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			got[0] = "changed"
			if all[0] != "wx" || routes[0].To[0] != "wx" {
				t.Fatal("the answer shares memory with the configuration")
			}
		})
	}
}

func TestAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		all  []string
		want bool
	}{
		"a chat always counts":                 {"wecom", []string{"console", "wecom"}, true},
		"the console does not beside a chat":   {"console", []string{"console", "wecom"}, false},
		"the console counts where it is alone": {"console", []string{"console"}, true},
		"two consoles are still the console":   {"console", []string{"console", "console"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notify.Accepts(c.kind, c.all); got != c.want {
				t.Errorf("Accepts(%q, %v) = %v", c.kind, c.all, got)
			}
		})
	}
}

func TestUrgent(t *testing.T) {
	for name, c := range map[string]struct {
		n    notify.Notice
		want bool
	}{
		"an announcement is urgent, whatever its severity": {notify.Notice{Event: notify.EventPending, Severity: fleet.Info}, true},
		"what is critical is urgent":                       {notify.Notice{Event: notify.EventFinding, Severity: fleet.Critical}, true},
		"money is urgent":                                  {notify.Notice{Event: notify.EventFinding, Category: fleet.CategoryMoney}, true},
		"a finished stop is not":                           {notify.Notice{Event: notify.EventDone, Category: fleet.CategoryAct, Severity: fleet.Info}, false},
		"a dry run is not":                                 {notify.Notice{Event: notify.EventWould, Severity: fleet.Warning}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.n.Urgent(); got != c.want {
				t.Errorf("Urgent() = %v", got)
			}
		})
	}
}
