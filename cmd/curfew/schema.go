package main

import (
	"github.com/spf13/cobra"

	"curfew/internal/config"
)

func (p *program) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the schema of the configuration, for editors",
		Long: `schema prints a JSON Schema of the configuration: its keys, what each means and how
its values are written. An editor that knows YAML schemas completes by it and shows
mistakes while you write; the first line of the configuration names it:

  # yaml-language-server: $schema=curfew.schema.json

It says what stands in a file. What goes together only curfew check knows.`,
		Example: "  curfew schema > curfew.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema(registry())
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(text)
			return err
		},
	}
}
