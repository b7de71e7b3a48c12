package main

import (
	"fmt"
	"strings"

	"curfew/notify"
)

func channelsPage(kinds []notify.Kind) string {
	var b strings.Builder
	b.WriteString(generated + "# Channels\n\n" + `Where curfew can tell you. Each is an entry of ` + "`notify.channels`" + `. An announcement
counts as given once a channel's own answer shows that it was accepted; the
console counts only where it is the only channel.

`)
	rows := [][]string{{"type", "is", "secrets", "settings", "buttons with", "messages a minute", "address"}}
	for _, k := range kinds {
		limit := "no limit"
		if k.PerMinute > 0 {
			limit = fmt.Sprint(k.PerMinute)
		}
		name := "`" + k.Name + "`"
		if k.Name != notify.ConsoleKind {
			name = "[" + name + "](../channels/" + k.Name + ".md)"
		}
		rows = append(rows, []string{
			name, cell(k.Title), codes(k.Credentials), codes(k.Settings), codes(given(k.Buttons)), limit, codes(given(k.DefaultURL)),
		})
	}
	table(&b, rows)
	b.WriteString("\n" + `Secrets are written as ` + "`{env: NAME}`, `{file: PATH}` or `{credential: NAME}`" + `, never in
the file itself. The keys that every channel has are in
[the configuration](config.md#notifychannels). ` + "`curfew notify test NAME`" + ` sends one
message and shows how the answer is judged.

Buttons are shown where the secret of that column is given and ` + "`users`" + ` names who may
press: see [answering from chat](../howto/answer.md). Elsewhere messages hold links, if
there is a page.
`)
	return b.String()
}
