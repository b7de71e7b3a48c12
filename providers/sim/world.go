package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"curfew/fleet"
)

// World is a cloud as a file describes it. Every time in it counts from the
// moment it is put into a [Cloud].
type World struct {
	Timing    Timing     `yaml:"timing"`
	Ways      Ways       `yaml:"ways"`
	Accounts  []Account  `yaml:"accounts"`
	Instances []Spec     `yaml:"instances"`
	Disks     []Resource `yaml:"disks"`
	Snapshots []Resource `yaml:"snapshots"`
	Images    []Resource `yaml:"images"`
	IPs       []Resource `yaml:"ips"`
	Market    []Good     `yaml:"market"`
}

// LoadWorld reads a world file.
func LoadWorld(path string) (World, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return World{}, fmt.Errorf("read the world file: %w", err)
	}
	return parseWorld(path, data)
}

// ReadWorld reads a world from r; name is used in errors.
func ReadWorld(name string, r io.Reader) (World, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return World{}, fmt.Errorf("read %s: %w", name, err)
	}
	return parseWorld(name, data)
}

func parseWorld(name string, data []byte) (World, error) {
	money := yaml.CustomUnmarshaler(func(m *fleet.Money, b []byte) error {
		var s string
		if err := yaml.Unmarshal(b, &s); err != nil {
			return err
		}
		var err error
		*m, err = fleet.ParseMoney(s)
		return err
	})
	var w World
	err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), money).Decode(&w)
	if err != nil && !errors.Is(err, io.EOF) {
		return World{}, fmt.Errorf("%s: %w", name, err)
	}
	// A trial cloud finds what makes no sense before a real one is touched.
	if err := New(Options{Now: func() time.Time { return time.Unix(0, 0) }}).Load(w); err != nil {
		return World{}, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// Load puts everything of a world into the cloud and sets its timing and ways.
// Where it fails, what came before the failure stays.
func (c *Cloud) Load(w World) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	c.timing, c.ways = w.Timing, w.Ways
	for _, a := range w.Accounts {
		if err := c.addAccount(a); err != nil {
			return err
		}
	}
	for _, s := range w.Instances {
		if _, err := c.add(s, now); err != nil {
			return err
		}
	}
	for _, kind := range fleet.ResourceKinds() {
		for _, r := range w.resources(kind) {
			if _, err := c.addResource(kind, r, now); err != nil {
				return err
			}
		}
	}
	for _, g := range w.Market {
		if err := c.offer(g, now); err != nil {
			return err
		}
	}
	return nil
}

func (w World) resources(kind fleet.ThingKind) []Resource {
	switch kind {
	case fleet.KindDisk:
		return w.Disks
	case fleet.KindSnapshot:
		return w.Snapshots
	case fleet.KindImage:
		return w.Images
	case fleet.KindPublicIP:
		return w.IPs
	}
	return nil
}
