package notifytest_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
)

func TestARobotKeepsWhatItTakesAndCountsWhatItDoesNot(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	r := &recorder{}
	robot := notifytest.NewRobot(notifytest.Platform[string]{
		Name: "the robot", Path: "/send/?*",
		Query: func(u *url.URL) error {
			if u.RawQuery != "" {
				return errors.New("a query")
			}
			return nil
		},
		Judge: func(_ *http.Request, body []byte, past notifytest.Past[string]) (*string, notifytest.Answer) {
			said := string(body)
			switch {
			case past.Within(time.Minute) >= 2:
				return nil, notifytest.Answer{Code: 9}
			case len(past.Messages) > 0 && past.Messages[0] == said:
				return nil, notifytest.Answer{Msg: "ok"}
			}
			return &said, notifytest.Answer{Msg: "ok"}
		},
		JSON: func(a notifytest.Answer) any { return a.Code },
	}, func() time.Time { return now }, r.Errorf)
	send := func(want, target, body string) {
		t.Helper()
		if got := notifytest.Ask(t, robot, "POST", target, "application/json", body); strings.TrimSpace(got) != want {
			t.Errorf("answer %q, want %q", got, want)
		}
	}
	send("0", "/send/T", "a")
	send("0", "/send/T", "a") // taken before, not kept again
	now = now.Add(59 * time.Second)
	send("0", "/send/T", "b")
	send("9", "/send/T", "c")
	now = now.Add(time.Second) // the first is a minute old
	robot.Answer(notifytest.Answer{})
	send("0", "/send/T", "d") // by a scripted answer, not taken
	send("0", "/send/T", "e")
	if got := strings.Join(robot.Messages(), ""); got != "abe" || robot.Refused() != 2 || len(robot.Bodies()) != 3 {
		t.Errorf("took %q, refused %d", got, robot.Refused())
	}
	if got := r.finish(); got != "" {
		t.Errorf("complains of right requests: %s", got)
	}
	robot.Answer(notifytest.Answer{Status: 502, Raw: "bad gateway"})
	send("bad gateway", "/send/T?a=b", "f")
	send("0", "/send/", "g") // not found
	if got := r.finish(); !strings.Contains(got, "the robot: a query") || !strings.Contains(got, "not how it is called") {
		t.Errorf("complaints %q", got)
	}
}

func TestTakesIsStrict(t *testing.T) {
	e := expect()
	e.Whole = func(r *http.Request, body []byte) error {
		if r.URL.Host != "robot.test" || len(body) > 20 {
			return errors.New("another host, or long")
		}
		return nil
	}
	for name, c := range map[string]struct{ method, url, body, want string }{
		"a right request":   {"POST", "https://robot.test/send?key=K", `{"text":"x"}`, ""},
		"another method":    {"PUT", "https://robot.test/send?key=K", `{"text":"x"}`, "method is PUT"},
		"another host":      {"POST", "https://other.test/send?key=K", `{"text":"x"}`, "another host"},
		"an unknown field":  {"POST", "https://robot.test/send?key=K", `{"y":1}`, "unknown field"},
		"what is not UTF-8": {"POST", "https://robot.test/send?key=K", "{\"text\":\"\xff\"}", "not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			client := notifytest.Takes(r, e, notifytest.Reply{Status: 201})
			for range 2 {
				req, err := http.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header = http.Header{"Content-Type": {"application/json"}, "X-Token": {"T"}}
				resp, err := client.Do(req)
				if err != nil || resp.StatusCode != 201 {
					t.Fatalf("%v, %v", resp, err)
				}
				resp.Body.Close()
			}
			if got := r.finish(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("complaint %q, want %q", got, c.want)
			}
		})
	}
}

func TestAStormIsToldOnce(t *testing.T) {
	one, two := "storm n=(0)", "storm n=(1)"
	for name, c := range map[string]struct {
		words  []string
		others int
		want   string
	}{
		"each once":            {[]string{two, one}, 0, ""},
		"and another":          {[]string{two, one, "hello"}, 1, ""},
		"both in one":          {[]string{one + two}, 0, ""},
		"one is missing":       {[]string{one}, 0, "(1) arrived 0 times"},
		"one twice":            {[]string{one, two, two}, 0, "(1) arrived 2 times"},
		"one twice in one":     {[]string{one + two + two}, 0, "(1) arrived 2 times"},
		"one that is none":     {[]string{one, two, "storm n=(2)"}, 0, "3 different notices"},
		"another not expected": {[]string{one, two, "hello"}, 0, "-1 other messages"},
		"another is missing":   {[]string{one, two}, 1, "1 other messages"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			notifytest.NewStorm(r, notify.Kind{}, nil, 2, fleet.Info).Once(c.words, c.others)
			if got := r.finish(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("complaint %q, want %q", got, c.want)
			}
		})
	}
}
