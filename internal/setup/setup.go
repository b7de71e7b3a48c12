// Package setup is the pure part of curfew init: questions as data, knowing a
// rented machine by its marks, finding tokens by the names they usually have, and
// writing the configuration with the comments a reader needs. It sees the machine
// as a file system and a function that looks up the environment, and touches
// nothing.
package setup

import (
	"io/fs"
	"path"
	"strings"
	"time"
)

// Machine is the machine that is set up, as it can be seen from inside.
type Machine struct {
	Root fs.FS // of its root folder
	Env  func(name string) (string, bool)
}

// Lookup gives a variable of the environment or, since a login does not always
// inherit it, of process 1.
func (m Machine) Lookup(name string) (string, bool) {
	if v, ok := m.Env(name); ok && v != "" {
		return v, true
	}
	environ, err := fs.ReadFile(m.Root, "proc/1/environ")
	if err != nil {
		return "", false
	}
	for entry := range strings.SplitSeq(string(environ), "\x00") {
		if key, v, ok := strings.Cut(entry, "="); ok && key == name && v != "" {
			return v, true
		}
	}
	return "", false
}

// Has reports whether there is a file or folder of this path.
func (m Machine) Has(file string) bool {
	_, err := fs.Stat(m.Root, strings.TrimPrefix(file, "/"))
	return err == nil
}

// Hostname is what the machine calls itself, or "".
func (m Machine) Hostname() string {
	for _, file := range []string{"proc/sys/kernel/hostname", "etc/hostname"} {
		if data, err := fs.ReadFile(m.Root, file); err == nil && strings.TrimSpace(string(data)) != "" {
			return strings.TrimSpace(string(data))
		}
	}
	return ""
}

// Zone is the name of the machine's time zone, or "" where none is told that
// everybody knows.
func (m Machine) Zone() string {
	var names []string
	if v, ok := m.Env("TZ"); ok {
		names = append(names, strings.TrimPrefix(v, ":"))
	}
	if link, err := fs.ReadLink(m.Root, "etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(link, "zoneinfo/"); ok {
			names = append(names, name)
		}
	}
	if data, err := fs.ReadFile(m.Root, "etc/timezone"); err == nil {
		names = append(names, strings.TrimSpace(string(data)))
	}
	for _, name := range names {
		if name == "" || name == "Local" || path.IsAbs(name) {
			continue
		}
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	return ""
}

// Cards reads what nvidia-smi --query-gpu=name --format=csv,noheader printed: the
// model, without its maker, and how many there are. Two models are both named.
func Cards(out string) (model string, count int) {
	var models []string
	for line := range strings.Lines(out) {
		name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "NVIDIA "), "GeForce ")
		if name == "" {
			continue
		}
		count++
		if len(models) == 0 || models[len(models)-1] != name {
			models = append(models, name)
		}
	}
	return strings.Join(models, ", "), count
}
