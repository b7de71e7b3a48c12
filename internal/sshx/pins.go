package sshx

import (
	"sync"

	"curfew/fleet"
)

// Pins remembers which host key each instance showed in each boot. Platforms
// hand the same address to one instance after the other, and many make new host
// keys at each boot: so a key is trusted at first sight, and for one boot only.
type Pins interface {
	// Pin keeps the fingerprint for the instance's boot if none is kept yet, and
	// gives the one that is kept. It may be called from several goroutines.
	Pin(ref fleet.Ref, boot fleet.Boot, fingerprint string) (kept string, err error)
}

// bootsKept is how many boots of one instance are remembered: the present one,
// and some for lists that lag behind.
const bootsKept = 4

type pin struct {
	boot        fleet.Boot
	fingerprint string
}

// MemoryPins keeps the pins for as long as the process lives.
type MemoryPins struct {
	mu   sync.Mutex
	pins map[fleet.Ref][]pin
}

// NewMemoryPins gives an empty store.
func NewMemoryPins() *MemoryPins { return &MemoryPins{pins: map[fleet.Ref][]pin{}} }

// Pin keeps the first fingerprint of a boot and gives the one that is kept.
func (m *MemoryPins) Pin(ref fleet.Ref, boot fleet.Boot, fingerprint string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.pins[ref]
	for _, p := range kept {
		if p.boot == boot {
			return p.fingerprint, nil
		}
	}
	if len(kept) == bootsKept {
		kept = kept[1:]
	}
	m.pins[ref] = append(kept, pin{boot, fingerprint})
	return fingerprint, nil
}
