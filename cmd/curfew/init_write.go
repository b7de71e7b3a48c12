package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"curfew/fleet"
	"curfew/internal/config"
)

// written is what init says to programs.
type written struct {
	File     string         `json:"file"`
	Accounts map[string]int `json:"accounts"` // how many instances each has
	Channel  string         `json:"channel,omitempty"`
	Secrets  []string       `json:"secrets,omitempty"` // files
	Next     []string       `json:"next"`
}

// finish writes everything, or nothing.
func (i *initializer) finish(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	yaml := i.plan.YAML(i.render)
	if _, err := i.draft(i.plan); err != nil {
		return toldOf(failDraft, err)
	}
	if err := i.write(yaml); err != nil {
		return toldOf(failNotWritten, err)
	}
	out := written{File: i.file, Accounts: i.found, Secrets: slices.Sorted(maps.Keys(i.secrets))}
	if i.plan.Channel != nil {
		out.Channel = i.plan.Channel.Name
	}
	words := i.nextCommands()
	for _, w := range words {
		out.Next = append(out.Next, w[0])
	}
	if i.asJSON {
		return i.writeJSON(out)
	}
	g := i.talk.page()
	fmt.Fprintln(g.w)
	for _, file := range out.Secrets {
		g.line(wordWroteSecret, fleet.Values{"file": fleet.Text(file)})
	}
	g.line(wordWrote, fleet.Values{"file": fleet.Text(i.file)})
	if i.aside != "" {
		g.line(wordAdopt, fleet.Values{"new": fleet.Text(i.file), "file": fleet.Text(i.aside)})
		return nil
	}
	g.line(wordNext, nil)
	g.table(2, words)
	return nil
}

// nextCommands are what to type next, and what each is for.
func (i *initializer) nextCommands() [][]string {
	with := ""
	if !i.isDefault() {
		with = " --config " + i.file
	}
	next := [][]string{
		{"curfew plan" + with, i.talk.say(wordNextPlan, nil)},
		{"curfew run" + with, i.talk.say(wordNextRun, nil)},
	}
	if i.plan.Box != nil {
		next = slices.Insert(next, 0, []string{"curfew exec" + with + " --then stop -- python train.py", i.talk.say(wordNextExec, nil)})
	}
	return next
}

// isDefault reports whether the file is the one that is taken where none is named.
func (i *initializer) isDefault() bool {
	for _, place := range config.Places(i.env("HOME")) {
		if is, err := i.there(place); err == nil && is {
			abs, err := filepath.Abs(place)
			return err == nil && abs == i.file
		}
	}
	return false
}

// write puts the secrets and then the configuration in place. What fails takes
// back what was written before it.
func (i *initializer) write(yaml string) (err error) {
	dir := filepath.Dir(i.file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if filepath.Base(dir) == ownFolder {
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
	}
	var done []string
	defer func() {
		if err != nil {
			for _, file := range done {
				err = errors.Join(err, os.Remove(file))
			}
		}
	}()
	for _, file := range slices.Sorted(maps.Keys(i.secrets)) {
		if err := put(file, i.secrets[file]+"\n", nil); err != nil {
			return err
		}
		done = append(done, file)
	}
	return put(i.file, yaml, func(temp string) error {
		_, err := config.Load(temp, "", registry())
		return err
	})
}

// put writes a file that only its owner can read, at once and whole, and never
// over another. check may refuse it before it is in place.
func put(file, content string, check func(temp string) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".curfew-init-*") // 0600
	if err != nil {
		return err
	}
	temp := f.Name()
	defer os.Remove(temp) //nolint:errcheck // it is in place by another name, or not wanted
	if _, err := f.WriteString(content); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if check != nil {
		if err := check(temp); err != nil {
			return err
		}
	}
	err = os.Link(temp, file)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Some file systems have no second names.
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s: %w", file, fs.ErrExist)
	}
	return os.Rename(temp, file)
}
