package alertmanager

import "testing"

// The vector is of a payload that an Alertmanager made itself.
func TestFingerprintIsAnAlertmanagers(t *testing.T) {
	all := map[string]string{"alertname": "GpuIdle", "instance": "inst-1", "severity": "warning"}
	if got, want := fingerprint(all), "0c336f6560d9fd7e"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	if got, want := selector(map[string]string{"b": `x"y`, "a": "1"}), `{a="1", b="x\"y"}`; got != want {
		t.Errorf("selector %s, want %s", got, want)
	}
}
