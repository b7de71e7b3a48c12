// Package deploy_test checks what is shipped beside the binary.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"
)

const service = "systemd/curfew.service"

// options reads the unit: section/name -> its values in order.
func options(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open(service)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	opts, err := unit.DeserializeOptions(f)
	if err != nil {
		t.Fatalf("%s: %v", service, err)
	}
	all := map[string][]string{}
	for _, o := range opts {
		all[o.Section+"/"+o.Name] = append(all[o.Section+"/"+o.Name], o.Value)
	}
	return all
}

func TestServiceRunsWithTheConfigurationWeDocument(t *testing.T) {
	got := options(t)
	for name, want := range map[string]string{
		"Service/ExecStart":      "/usr/bin/curfew run --config /etc/curfew/curfew.yaml",
		"Service/Restart":        "on-failure",
		"Service/StateDirectory": "curfew",
		"Install/WantedBy":       "multi-user.target",
	} {
		if !slices.Equal(got[name], []string{want}) {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if len(got["Service/ExecReload"]) != 1 {
		t.Error("systemctl reload would not reach the daemon")
	}
}

func TestServiceIsShutIn(t *testing.T) {
	got := options(t)
	for name, want := range map[string][]string{
		"DynamicUser":             {"yes"},
		"NoNewPrivileges":         {"yes"},
		"CapabilityBoundingSet":   {""},
		"ProtectSystem":           {"strict"},
		"ProtectHome":             {"yes"},
		"PrivateTmp":              {"yes"},
		"PrivateDevices":          {"yes"},
		"PrivateUsers":            {"yes"},
		"ProtectClock":            {"yes"},
		"ProtectControlGroups":    {"yes"},
		"ProtectHostname":         {"yes"},
		"ProtectKernelLogs":       {"yes"},
		"ProtectKernelModules":    {"yes"},
		"ProtectKernelTunables":   {"yes"},
		"ProtectProc":             {"invisible"},
		"RestrictAddressFamilies": {"AF_INET AF_INET6 AF_UNIX"},
		"RestrictNamespaces":      {"yes"},
		"RestrictRealtime":        {"yes"},
		"RestrictSUIDSGID":        {"yes"},
		"LockPersonality":         {"yes"},
		"MemoryDenyWriteExecute":  {"yes"},
		"SystemCallArchitectures": {"native"},
		"SystemCallFilter":        {"@system-service", "~@privileged"},
		"UMask":                   {"0077"},
	} {
		if values := got["Service/"+name]; !slices.Equal(values, want) {
			t.Errorf("%s is %q, want %q", name, values, want)
		}
	}
}

// Secrets are handed over by LoadCredential; one in the unit could be read by
// everybody on the machine.
func TestServiceHoldsNoSecret(t *testing.T) {
	for name := range options(t) {
		if strings.HasPrefix(name, "Service/Environment") || strings.HasPrefix(name, "Service/SetCredential") {
			t.Errorf("%s hands something over in the open", name)
		}
	}
}

func TestSystemdAcceptsTheService(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	text, err := os.ReadFile(service)
	if err != nil {
		t.Fatal(err)
	}
	// verify wants to see the program; it does not run it.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "curfew.service")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "/usr/bin/curfew", self)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
