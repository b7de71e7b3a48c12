// Docgen writes the reference pages that say what the program itself knows:
// what each platform can do, which channels there are, every reason it can give,
// and the schema of the configuration. Run it by make generate; a test fails when
// a page is out of date.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"curfew/internal/config"
	"curfew/internal/text"
	channels "curfew/notify/all"
	platforms "curfew/providers/all"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name the folder to write to: go run ./internal/docgen docs/reference")
	}
	all, err := pages()
	if err != nil {
		return err
	}
	for name, content := range all {
		if err := os.WriteFile(filepath.Join(args[0], name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pages gives the content of every page by its file name.
func pages() (map[string]string, error) {
	reasons, err := reasonsPage(text.All())
	if err != nil {
		return nil, err
	}
	schema, err := config.Schema(config.Registry{Providers: platforms.Kinds(), Channels: channels.Kinds()})
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"providers.md":       providersPage(platforms.Kinds()),
		"channels.md":        channelsPage(channels.Kinds()),
		"reasons.md":         reasons,
		"curfew.schema.json": string(schema),
	}, nil
}
