package fleet

import "time"

// Acceptance is what came of examining a machine: whether it is what was ordered, and
// works. What could not be read is in Unknown and is never counted as good.
type Acceptance struct {
	ID   int64     `json:"id"`
	Ref  Ref       `json:"ref"`
	Boot Boot      `json:"boot,omitempty"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	// Provider, Region and GPU are where results of several machines belong together.
	Provider string `json:"provider"`
	Region   string `json:"region,omitempty"`
	GPU      string `json:"gpu,omitempty"` // the model as the platform calls it
	Accepted bool   `json:"accepted"`

	Passed   []Reason `json:"passed,omitempty"`
	Fails    []Reason `json:"fails,omitempty"`
	Warnings []Reason `json:"warnings,omitempty"`
	Unknown  []Reason `json:"unknown,omitempty"`
	// Measured are the figures by name, speeds in bytes a second and sizes in bytes;
	// what is not known is not in it.
	Measured map[string]float64 `json:"measured,omitempty"`
	// Bootstrap is what became of the script that was run before; nil: none was.
	Bootstrap *Bootstrapped `json:"bootstrap,omitempty"`
}

// Bootstrapped is what became of a script that prepares a machine.
type Bootstrapped struct {
	OK   bool          `json:"ok"`
	Exit *int          `json:"exit,omitempty"` // nil: it did not end by itself
	Took time.Duration `json:"took_ns"`
	Why  Reason        `json:"why,omitzero"`  // why it failed
	Log  string        `json:"log,omitempty"` // the file that its output is in
}
