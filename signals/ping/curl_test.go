package ping_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"curfew/signals/ping"
)

// curl runs the real one in a shell, as recipes do, with $URL in its environment.
func curl(t *testing.T, url, script string) (out string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", script)
	c.Env = append(os.Environ(), "URL="+url, "NO_PROXY=*")
	c.Dir = t.TempDir()
	said, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(said), exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(said), 0
}

func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("curl is not installed")
		}
		t.Skip("curl is not installed")
	}
}

func TestCurlAsInTheRecipes(t *testing.T) {
	needCurl(t)
	d := newDesk()
	server := httptest.NewServer(d.handler())
	defer server.Close()
	url := server.URL + "/ping/" + d.key
	success, start := ping.Ping{Kind: ping.End}, ping.Ping{Kind: ping.Start}
	failed := func(exit int, text string) ping.Ping { return ping.Ping{Kind: ping.End, Exit: exit, Text: text} }
	for name, c := range map[string]struct {
		script string
		out    string
		code   int
		want   []ping.Ping
	}{
		"success":        {`curl -fsS -m 10 --retry 5 $URL`, "OK", 0, []ping.Ping{success}},
		"without a word": {`curl -fsS -m 10 --retry 5 -o /dev/null $URL`, "", 0, []ping.Ping{success}},
		"HEAD":           {`curl -fsS -m 10 --retry 5 --head -o /dev/null $URL`, "", 0, []ping.Ping{success}},
		"start, work, exit status": {
			`curl -fsS -m 10 --retry 5 -o /dev/null $URL/start; (exit 3); curl -fsS -m 10 --retry 5 -o /dev/null $URL/$?`,
			"", 0, []ping.Ping{start, failed(3, "")},
		},
		"output as the body": {
			`m=$(echo Traceback; echo "CUDA out of memory" 2>&1); curl -fsS -m 10 --retry 5 --data-raw "$m" $URL/1`,
			"OK", 0, []ping.Ping{failed(1, "Traceback\nCUDA out of memory")},
		},
		"a file as the body": {
			`yes 0123456789abcdef | head -c 60000 >log; echo >>log; echo end >>log; curl -fsS -m 10 --retry 5 --data-binary @log $URL/log`,
			"OK", 0, []ping.Ping{{Kind: ping.Log, Text: tailOf("0123456789abcdef\n", 60000, "\nend\n")}},
		},
		"a file longer than all that is read": {
			`head -c 900000 /dev/zero | tr '\0' x >log; curl -fsS -m 10 --retry 5 --data-binary @log $URL/fail`,
			"OK", 0, []ping.Ping{failed(1, strings.Repeat("x", ping.TextKept))},
		},
		"an id for what goes on at the same time": {
			`rid=` + rid1 + `; curl -fsS -m 10 --retry 5 "$URL/start?rid=$rid" && curl -fsS -m 10 --retry 5 "$URL?rid=$rid"`,
			"OKOK", 0, []ping.Ping{{Kind: ping.Start, RID: rid1}, {Kind: ping.End, RID: rid1}},
		},
		"a wrong id is an error and is not repeated": {`curl -fsS -m 10 --retry 5 "$URL?rid=x" 2>&1 | grep -o 400`, "400\n", 0, nil},
		"a wrong key is an error":                    {`curl -fsS -m 10 ${URL}0`, "curl: (22) The requested URL returned error: 404\n", 22, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, code := curl(t, url, c.script)
			if out != c.out || code != c.code {
				t.Errorf("curl ended with %d and said %q; want %d and %q", code, out, c.code, c.out)
			}
			for n := range c.want {
				c.want[n].At = at(0)
			}
			if diff := cmp.Diff(c.want, d.pings()); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
		})
	}
}

// tailOf is what is kept of a line repeated up to a length, with an end.
func tailOf(line string, length int, end string) string {
	all := strings.Repeat(line, length/len(line)+1)[:length] + end
	return all[len(all)-ping.TextKept:]
}

// A client that repeats brings its ping in once the state can be written again.
func TestCurlRepeatsWhatWasNotRecorded(t *testing.T) {
	needCurl(t)
	d := newDesk()
	d.failing = 1
	server := httptest.NewServer(d.handler())
	defer server.Close()
	out, code := curl(t, server.URL+"/ping/"+d.key, `curl -fsS -m 10 --retry 5 -o /dev/null $URL/start`)
	if code != 0 || len(d.pings()) != 1 || d.failing != 0 {
		t.Errorf("curl ended with %d and said %q", code, out)
	}
}
