package console_test

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"curfew/notify"
	"curfew/notify/console"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConsoleWritesOneBlockPerNotice(t *testing.T) {
	var out strings.Builder
	c, err := console.Kind().Open(notify.Options{Name: "here", Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 2, 0, 5, 0, time.FixedZone("CST", 8*60*60))
	for _, m := range []notify.Message{
		{Title: "将关机：exp-7", Plain: "每小时 1.98 CNY\n#12", Markdown: "**x**", At: at},
		{Title: "Test message", At: at},
	} {
		if v := c.Send(t.Context(), m); v != (notify.Verdict{Kind: notify.VerdictOK}) {
			t.Errorf("verdict %+v", v)
		}
	}
	want := "2026-11-30 02:00:05  将关机：exp-7\n  每小时 1.98 CNY\n  #12\n\n2026-11-30 02:00:05  Test message\n\n"
	if out.String() != want {
		t.Errorf("wrote\n%q, want\n%q", out.String(), want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestConsoleWriteErrorIsTriedAgain(t *testing.T) {
	c, err := console.Kind().Open(notify.Options{Out: full{}})
	if err != nil {
		t.Fatal(err)
	}
	if v := c.Send(t.Context(), notify.Message{}); v.Kind != notify.VerdictRetry || v.Detail != "no space left" {
		t.Errorf("verdict %+v", v)
	}
}

func TestConsoleNeedsSomewhereToWrite(t *testing.T) {
	if _, err := console.Kind().Open(notify.Options{Name: "here"}); err == nil || !strings.Contains(err.Error(), "channel here") {
		t.Errorf("error %v", err)
	}
}

// Every notice in both languages, as it is printed.
func TestTold(t *testing.T) {
	notifytest.Payloads(t, *update, "txt", func(t *testing.T, m notify.Message) string {
		var out strings.Builder
		c, err := console.Kind().Open(notify.Options{Name: "here", Out: &out})
		if err != nil {
			t.Fatal(err)
		}
		if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Errorf("verdict %+v", v)
		}
		return out.String()
	})
}
