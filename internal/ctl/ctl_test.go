package ctl_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/policies"
)

// fake answers every question with fixed values and remembers what it was asked.
type fake struct {
	asked any
	err   error
}

func (f *fake) Plan(context.Context) (ctl.Plan, error) { return plan(), f.err }
func (f *fake) List(context.Context) (ctl.Listing, error) {
	return listing(), f.err
}
func (f *fake) Status(context.Context) (ctl.Status, error) { return status(), f.err }

func (f *fake) Explain(_ context.Context, name string) (ctl.Explanation, error) {
	f.asked = name
	return explanation(), f.err
}

func (f *fake) PingKey(_ context.Context, name string) (ctl.PingKey, error) {
	f.asked = name
	return pingKeyOf(), f.err
}

func (f *fake) Journal(_ context.Context, q ctl.JournalQuery) (ctl.JournalAnswer, error) {
	f.asked = q
	return ctl.JournalAnswer{Intents: []fleet.Intent{intent()}, Steps: []store.Entry{{ID: 1, Intent: 7, At: at(3), Step: "opened", Row: intent()}}}, f.err
}

func (f *fake) Hold(_ context.Context, h ctl.HoldRequest) (ctl.HoldAnswer, error) {
	f.asked = h
	i := intent()
	return ctl.HoldAnswer{Ref: ref(), Hold: fleet.Hold{ID: 3, Ref: ref(), Until: h.Until, By: h.By, Why: h.Why, CreatedAt: at(0)}, Abandoned: &i}, f.err
}

func (f *fake) Act(_ context.Context, r ctl.ActRequest) (fleet.Intent, error) {
	f.asked = r
	return intent(), f.err
}

func (f *fake) Apply(_ context.Context, r ctl.ApplyRequest) (ctl.Applied, error) {
	f.asked = r
	return applied(), f.err
}

func (f *fake) Resources(_ context.Context, kind fleet.ThingKind) (ctl.Resources, error) {
	f.asked = kind
	return resourcesOf(), f.err
}

func (f *fake) Approve(_ context.Context, id int64, by string) (fleet.Intent, error) {
	f.asked = []any{id, by}
	return intent(), f.err
}

func (f *fake) ApproveHold(_ context.Context, id int64, by string) (ctl.HoldAnswer, error) {
	f.asked = []any{id, by}
	return ctl.HoldAnswer{Ref: intent().Ref}, f.err
}

func (f *fake) Forget(_ context.Context, account string) error {
	f.asked = account
	return f.err
}

func (f *fake) Reload(context.Context) error {
	f.asked = "reload"
	return f.err
}

func at(minute int) time.Time { return time.Date(2026, 11, 30, 14, minute, 5, 0, time.UTC) }

func ref() fleet.Ref {
	return fleet.Ref{Account: "sim:u-1", Kind: fleet.KindInstance, ID: "a/b", Incarnation: "2"}
}

func intent() fleet.Intent {
	code := 1
	return fleet.Intent{
		ID: 7, Ref: ref(), Boot: "n3", Action: fleet.Stop, Goal: fleet.Release, By: "policy", State: fleet.IntentWritten,
		Verdicts: []fleet.Verdict{{
			Policy: "done", Ref: ref(), Boot: "n3", Goal: fleet.Release, Next: at(9), Due: at(1),
			Reason: fleet.Because("policy.run-ended", fleet.Values{
				"run": fleet.Text("r1"), "ended": fleet.Moment(at(2)), "outcome": fleet.Nested(fleet.Because("policy.succeeded", nil)),
			}),
			Ground: &fleet.Ground{Policy: "done", Boot: "n3", Run: "r1", Outcome: fleet.OutcomeSucceeded, EndedAt: at(2), Goal: fleet.Release},
			Terms:  fleet.Terms{Mode: fleet.Enforce, WarnStop: 10 * time.Minute},
		}},
		Subject: fleet.Instance{
			Ref: ref(), Name: "exp-1", State: fleet.StateRunning, Labels: map[string]string{"a": "b"},
			Price: fleet.Price{PerHour: fleet.CNY(1_980_000), Source: fleet.PriceProvider}, StartedAt: at(0),
		},
		CreatedAt: at(1), Warn: 10 * time.Minute, AcceptedAt: at(2), Deadline: at(12), Cost: fleet.CNY(-5),
		Attempts: []fleet.Attempt{{StartedAt: at(12), EndedAt: at(13), Fence: int64(code), Kind: "transient", Error: "gone away"}},
	}
}

func pingKeyOf() ctl.PingKey {
	return ctl.PingKey{Ref: ref(), Name: "exp-1", Key: "0d338dcc-a054-81ec-b909-0242ac120002"}
}

func planned() ctl.Planned {
	i := intent()
	return ctl.Planned{
		Instance: i.Subject, Action: fleet.Stop, Goal: fleet.Release, Mode: fleet.Enforce, Reason: i.Verdicts[0].Reason,
		Activity: fleet.Judgement{
			Activity: fleet.Idle, Reason: fleet.Because("signal.all-idle", fleet.Values{"at": fleet.Moment(at(4))}), SeenAt: at(4),
			Sources: []fleet.SourceSeen{{Source: "sim", SeenAt: at(4), Fresh: true, Required: true, Activity: fleet.Idle}},
		},
		Verdicts: i.Verdicts, Intent: &i, At: at(12),
		Rulings: []guard.Ruling{
			{Check: "capability", Answer: guard.Allow, Reason: fleet.Because("guard.fine", nil)},
			{Check: "warning", Answer: guard.Wait, Reason: fleet.Because("guard.deadline", fleet.Values{"at": fleet.Moment(at(12))}), Until: at(12)},
			{Check: "mode", Answer: guard.Refuse, Reason: fleet.Because("guard.dry-run", nil)},
		},
	}
}

func scopes() []policies.ScopeState {
	return []policies.ScopeState{{
		Scope: fleet.Scope{Account: "sim:u-1", Region: "west"}, At: at(4), Since: at(5),
		Failing: fleet.Because("observe.poll-failed", fleet.Values{"kind": fleet.Text("transient"), "error": fleet.Text("no")}),
	}}
}

func plan() ctl.Plan {
	return ctl.Plan{Now: at(5), Items: []ctl.Planned{planned()}, Scopes: scopes()}
}

func applied() ctl.Applied {
	return ctl.Applied{
		Now: at(5), Mode: fleet.Enforce, Done: []fleet.Intent{intent()}, Announced: []fleet.Intent{intent()}, Waits: []fleet.Intent{intent()},
		Failed: []fleet.Intent{intent()}, CalledOff: []fleet.Intent{intent()}, NotNow: []ctl.Shown{planned().Shown()},
		Held: []ctl.Planned{planned()}, Would: []ctl.Planned{planned()}, Scopes: scopes(), Lists: resourcesOf().Lists,
	}
}

func resourcesOf() ctl.Resources {
	disk := fleet.Resource{
		Ref: fleet.Ref{Account: "sim:u-1", Kind: fleet.KindDisk, ID: "d-1"}, Name: "data", SizeGB: 100, Ready: true,
		Price: fleet.Price{PerHour: fleet.CNY(40_000), Source: fleet.PriceProvider}, UnusedSince: at(1), WithInstance: fleet.No,
	}
	return ctl.Resources{
		Now: at(5), Kind: fleet.KindDisk,
		Items: []ctl.PlannedResource{{Resource: disk, Planned: ctl.Planned{Instance: disk.Subject(), Reason: fleet.Because("app.no-policy", nil), Unguarded: true}}},
		Lists: []policies.ListState{{Scope: fleet.Scope{Account: "sim:u-1"}, Kind: fleet.KindDisk, At: at(4)}},
	}
}

func listing() ctl.Listing {
	return ctl.Listing{
		Now: at(5), Items: []ctl.Planned{planned()}, Scopes: scopes(), Wallets: map[string]fleet.Wallet{"lab": {Cash: fleet.CNY(86_400_000)}},
		Accounts: []ctl.Account{{Name: "lab", Provider: "sim", Identity: "sim:u-1", Mode: fleet.Enforce}},
	}
}

func explanation() ctl.Explanation {
	busy := 97.0
	return ctl.Explanation{
		Now: at(5), Planned: planned(), SeenAt: at(4), CostSoFar: fleet.CNY(12), Scope: scopes()[0],
		Evidence: []fleet.Evidence{{Source: "sim", SeenAt: at(4), Facts: fleet.Facts{Cards: []fleet.Card{{Utilization: &busy}}}}},
		Runs:     []fleet.Run{{ID: "r1", Ref: ref(), StartedAt: at(0), End: fleet.RunEnded, EndedAt: at(2)}},
		Holds:    []fleet.Hold{{ID: 1, Ref: ref(), Until: at(50), By: "wang", Why: "debugging"}},
		Sources:  []ctl.Setting{{Policy: "done", Key: "grace", Value: "5m", From: "default"}},
		History:  []store.Segment{{What: "state", Value: "running", From: at(0)}},
	}
}

func status() ctl.Status {
	return ctl.Status{Version: "v1", Config: "/etc/curfew/curfew.yaml", Mode: fleet.Enforce, StartedAt: at(0), Now: at(5), Instances: 3, Scopes: scopes()}
}

// serve starts the fake at a real socket and gives a client of it.
func serve(t *testing.T, f *fake) *ctl.Client {
	t.Helper()
	path := ctl.SocketPath("sqlite:" + filepath.Join(t.TempDir(), "curfew.db"))
	l, err := ctl.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: ctl.Handler(f), ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return ctl.NewClient(path)
}

type question struct {
	ask   func(context.Context, ctl.API) (any, error)
	want  any // the answer
	asked any // what arrives at the daemon
}

func questions() map[string]question {
	hold := ctl.HoldRequest{Name: "exp-1", Until: at(59), By: "wang", Why: "数据还没拷贝"}
	apply := ctl.ApplyRequest{By: "wang", Now: []ctl.Shown{{Ref: ref(), Boot: "n3", Action: fleet.Stop}}, Wait: time.Minute}
	act := ctl.ActRequest{Name: "exp-1", Action: fleet.Release, By: "wang"}
	i := intent()
	return map[string]question{
		"plan":   {ask: func(ctx context.Context, a ctl.API) (any, error) { return a.Plan(ctx) }, want: plan()},
		"list":   {ask: func(ctx context.Context, a ctl.API) (any, error) { return a.List(ctx) }, want: listing()},
		"status": {ask: func(ctx context.Context, a ctl.API) (any, error) { return a.Status(ctx) }, want: status()},
		"explain": {
			ask:  func(ctx context.Context, a ctl.API) (any, error) { return a.Explain(ctx, "名字 a/b&c=1") },
			want: explanation(), asked: "名字 a/b&c=1",
		},
		"resources": {
			ask:  func(ctx context.Context, a ctl.API) (any, error) { return a.Resources(ctx, fleet.KindDisk) },
			want: resourcesOf(), asked: fleet.KindDisk,
		},
		"ping-key": {
			ask:  func(ctx context.Context, a ctl.API) (any, error) { return a.PingKey(ctx, "名字 a/b&c=1") },
			want: pingKeyOf(), asked: "名字 a/b&c=1",
		},
		"journal": {
			ask: func(ctx context.Context, a ctl.API) (any, error) {
				return a.Journal(ctx, ctl.JournalQuery{Intent: 7, Limit: 20})
			},
			want:  ctl.JournalAnswer{Intents: []fleet.Intent{i}, Steps: []store.Entry{{ID: 1, Intent: 7, At: at(3), Step: "opened", Row: i}}},
			asked: ctl.JournalQuery{Intent: 7, Limit: 20},
		},
		"apply": {ask: func(ctx context.Context, a ctl.API) (any, error) { return a.Apply(ctx, apply) }, want: applied(), asked: apply},
		"hold": {
			ask:   func(ctx context.Context, a ctl.API) (any, error) { return a.Hold(ctx, hold) },
			want:  ctl.HoldAnswer{Ref: ref(), Hold: fleet.Hold{ID: 3, Ref: ref(), Until: hold.Until, By: hold.By, Why: hold.Why, CreatedAt: at(0)}, Abandoned: &i},
			asked: hold,
		},
		"act":     {ask: func(ctx context.Context, a ctl.API) (any, error) { return a.Act(ctx, act) }, want: i, asked: act},
		"approve": {ask: func(ctx context.Context, a ctl.API) (any, error) { return a.Approve(ctx, 7, "wang") }, want: i, asked: []any{int64(7), "wang"}},
		"approve a hold": {
			ask:  func(ctx context.Context, a ctl.API) (any, error) { return a.ApproveHold(ctx, 3, "li") },
			want: ctl.HoldAnswer{Ref: i.Ref}, asked: []any{int64(3), "li"},
		},
		"forget": {ask: func(ctx context.Context, a ctl.API) (any, error) { return nil, a.Forget(ctx, "old") }, asked: "old"},
		"reload": {ask: func(ctx context.Context, a ctl.API) (any, error) { return nil, a.Reload(ctx) }, asked: "reload"},
	}
}

func TestEveryAnswerArrivesAsItWasGiven(t *testing.T) {
	for name, q := range questions() {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			got, err := q.ask(t.Context(), serve(t, f))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(q.want, got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
				t.Errorf("answer (-given +arrived):\n%s", diff)
			}
			if diff := cmp.Diff(q.asked, f.asked); diff != "" {
				t.Errorf("question (-asked +arrived):\n%s", diff)
			}
		})
	}
}

func TestErrorsArriveAsText(t *testing.T) {
	for name, q := range questions() {
		t.Run(name, func(t *testing.T) {
			const text = `there is no instance "x"; curfew ls lists them`
			_, err := q.ask(t.Context(), serve(t, &fake{err: errors.New(text)}))
			if err == nil || err.Error() != text {
				t.Errorf("error %v, want %s", err, text)
			}
		})
	}
}

func TestARefusalArrivesWithItsReason(t *testing.T) {
	ruling := guard.Ruling{Check: "hold", Reason: fleet.Because("guard.held", fleet.Values{"until": fleet.Moment(at(30))}), Until: at(30)}
	c := serve(t, &fake{err: &ctl.RefusedError{Ruling: ruling}})
	_, err := c.Act(t.Context(), ctl.ActRequest{Name: "x", Action: fleet.Stop})
	refused, ok := errors.AsType[*ctl.RefusedError](err)
	if !ok {
		t.Fatalf("error %v is no refusal", err)
	}
	if diff := cmp.Diff(ruling, refused.Ruling, cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("ruling (-given +arrived):\n%s", diff)
	}
}

func TestWhatTheDaemonDoesNotUnderstandIsRefused(t *testing.T) {
	f := &fake{}
	c := serve(t, f)
	web := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.Path())
	}, DisableKeepAlives: true}}
	for name, r := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"an unknown key":           {"POST", "/v1/hold", `{"name":"x","until":"2026-11-30T15:00:00Z","unless":"busy"}`, 400, "unless"},
		"an unknown action":        {"POST", "/v1/act", `{"name":"x","action":"burn"}`, 400, "burn"},
		"no body":                  {"POST", "/v1/reload", "", 400, "cannot be read"},
		"a limit that is none":     {"GET", "/v1/journal?limit=many", "", 400, "many"},
		"a path of another time":   {"GET", "/v2/plan", "", 404, "version"},
		"a write asked as a read":  {"GET", "/v1/hold", "", 404, "GET /v1/hold"},
		"a request without an end": {"POST", "/v1/hold", `{"why":"` + strings.Repeat("x", 2<<20) + `"}`, 400, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), r.method, "http://curfew"+r.path, strings.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := web.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != r.status || !strings.Contains(string(body), r.says) || !strings.HasPrefix(string(body), `{"error":`) {
				t.Errorf("answer %d %s; want %d and %q", resp.StatusCode, body, r.status, r.says)
			}
			if f.asked != nil {
				t.Errorf("it reached the daemon as %v", f.asked)
			}
		})
	}
}

func TestWithoutADaemonTheErrorSaysSo(t *testing.T) {
	folder := t.TempDir()
	left := filepath.Join(folder, "left.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	for name, path := range map[string]string{
		"no file":             filepath.Join(folder, "none.sock"),
		"a file left behind":  left,
		"no folder":           filepath.Join(folder, "none", "curfew.db.sock"),
		"no temporary folder": ctl.SocketPath("sqlite:/" + strings.Repeat("x", 200)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ctl.NewClient(path).Plan(t.Context())
			if !errors.Is(err, ctl.ErrNoDaemon) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAQuestionThatIsGivenUpEnds(t *testing.T) {
	c := serve(t, &fake{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Plan(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ctl.ErrNoDaemon) {
		t.Errorf("error %v", err)
	}
}

func TestTheSocketIsForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curfew.db.sock")
	l, err := ctl.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("mode %s", info.Mode())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestASocketLeftBehindIsReplacedAndALiveOneIsNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curfew.db.sock")
	for _, left := range []string{path, path + "~"} {
		old, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		old.SetUnlinkOnClose(false)
		old.Close()
	}
	l, err := ctl.Listen(path)
	if err != nil {
		t.Fatalf("a socket left behind stands in the way: %v", err)
	}
	defer l.Close()
	if second, err := ctl.Listen(path); !errors.Is(err, ctl.ErrAnswered) {
		t.Errorf("a second daemon got %v, %v", second, err)
	}
	if c, err := net.Dial("unix", path); err != nil {
		t.Errorf("the first daemon lost its socket: %v", err)
	} else {
		c.Close()
	}
}

func TestWhereTheSocketLies(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := ctl.SocketPath("sqlite:/var/lib/curfew/curfew.db"); got != "/var/lib/curfew/curfew.db.sock" {
		t.Errorf("beside the state: %s", got)
	}
	if got := ctl.SocketPath("sqlite:x.db"); got != filepath.Join(here, "x.db.sock") {
		t.Errorf("a relative path: %s", got)
	}
	deep := "sqlite:/" + strings.Repeat("deep/", 30)
	a, b := ctl.SocketPath(deep+"a.db"), ctl.SocketPath(deep+"b.db")
	if a == b || len(a) > 104 || a != ctl.SocketPath(deep+"a.db") || !strings.HasPrefix(a, os.TempDir()) {
		t.Errorf("too long a path: %s and %s", a, b)
	}
	l, err := ctl.Listen(a)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(filepath.Dir(a)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v %v", info, err)
	}
}

func TestAFolderOpenToOthersIsNotTrusted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := ctl.SocketPath("sqlite:/" + strings.Repeat("deep/", 30) + "a.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Listen(path); err == nil || !strings.Contains(err.Error(), filepath.Dir(path)) {
		t.Errorf("the daemon listens there: %v", err)
	}
	if _, err := ctl.NewClient(path).Plan(t.Context()); err == nil || errors.Is(err, ctl.ErrNoDaemon) {
		t.Errorf("the client asks there: %v", err)
	}
}

func TestADaemonThatEndsLeavesTheSocketOfTheNextOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curfew.db.sock")
	first, err := ctl.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody removes the state with all that lies beside it, and starts anew.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := ctl.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("the first: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket of the second is gone: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Errorf("the second: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the second left its socket behind")
	}
}
