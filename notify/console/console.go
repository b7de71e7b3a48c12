// Package console is the channel that writes to the daemon's own output: for the
// demo, for trying things out, and as the last resort. Nobody is known to read
// it, so it counts as an accepted warning only where there is no other channel.
package console

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"curfew/notify"
)

// Kind describes the channel.
func Kind() notify.Kind {
	return notify.Kind{Name: notify.ConsoleKind, Title: "Console", Open: open}
}

func open(o notify.Options) (notify.Channel, error) {
	if o.Out == nil {
		return nil, fmt.Errorf("channel %s: console: nothing to write to", o.Name)
	}
	return channel{out: o.Out}, nil
}

type channel struct{ out io.Writer }

// Send writes one block: the time, the title, the indented lines, an empty line.
func (c channel) Send(_ context.Context, m notify.Message) notify.Verdict {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", m.At.Format(time.DateTime), m.Title)
	if m.Plain != "" {
		b.WriteString("  " + strings.ReplaceAll(m.Plain, "\n", "\n  ") + "\n")
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(c.out, b.String()); err != nil {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: "write", Detail: err.Error()}
	}
	return notify.Verdict{Kind: notify.VerdictOK}
}
