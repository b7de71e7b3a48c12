package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/fleet"
)

var noon = time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)

// desk is a state in a folder of its own, and the time it lives in.
type desk struct {
	*Store
	t    *testing.T
	path string
	mu   sync.Mutex
	at   time.Time
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.at.Add(by)
}

func open(t *testing.T, hook ...func(Phase, bool) error) *desk {
	t.Helper()
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "state", "curfew.db"), at: noon}
	o := Options{DSN: "sqlite:" + d.path, Now: d.now}
	for _, h := range hook {
		o.OnCommit = h
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	d.Store = s
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// again closes the state and opens it as the next daemon would.
func (d *desk) again() {
	d.t.Helper()
	if err := d.Close(); err != nil {
		d.t.Fatal(err)
	}
	s, err := Open(d.t.Context(), Options{DSN: "sqlite:" + d.path, Now: d.now})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Store = s
}

func (d *desk) do(f func(*Tx) error) {
	d.t.Helper()
	if err := d.Update(d.t.Context(), f); err != nil {
		d.t.Fatal(err)
	}
}

// rows counts the rows of a table, those that fit a condition.
func (d *desk) rows(table, where string, args ...any) int {
	d.t.Helper()
	var n int
	if err := d.r.QueryRowContext(d.t.Context(), "SELECT count(*) FROM "+table+" WHERE "+where, args...).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

func ref(id string) fleet.Ref {
	return fleet.Ref{Account: "sim:lab", Kind: fleet.KindInstance, ID: id}
}

// intent opens a stop of an instance.
func (d *desk) intent(id string, change ...func(*fleet.Intent)) fleet.Intent {
	d.t.Helper()
	i := fleet.Intent{Ref: ref(id), Boot: "n1", Action: fleet.Stop, Goal: fleet.Stop, By: "policy", Warn: 10 * time.Minute}
	for _, c := range change {
		c(&i)
	}
	d.do(func(tx *Tx) error { return tx.OpenIntent(&i, i.Action) })
	return i
}

// save takes an intent a step further.
func (d *desk) save(i *fleet.Intent, was fleet.IntentState, step string, change func(*fleet.Intent)) {
	d.t.Helper()
	d.do(func(tx *Tx) error {
		change(i)
		return tx.SaveIntent(i, was, step)
	})
}

func (d *desk) read(id int64) fleet.Intent {
	d.t.Helper()
	i, err := d.Intent(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return i
}

func TestTheStateIsForItsOwnerAlone(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error { return tx.SetMeta("a", "b") })
	mode := func(name string, want os.FileMode) {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
	mode(filepath.Dir(d.path), 0o700)
	for _, part := range []string{"", "-wal", "-shm", ".lock"} {
		mode(d.path+part, 0o600)
	}
	// One that others could read is shut when it is opened.
	if err := os.Chmod(d.path, 0o644); err != nil {
		t.Fatal(err)
	}
	d.again()
	d.do(func(tx *Tx) error { return tx.SetMeta("a", "c") })
	mode(d.path, 0o600)
	mode(d.path+"-wal", 0o600)
}

func TestTablesAreMadeOnceAndKeepWhatIsInThem(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error { return tx.SetMeta("kept", "yes") })
	i := d.intent("a")
	fence := d.Fence()
	d.again()
	if v, err := d.Meta(t.Context(), "kept"); err != nil || v != "yes" {
		t.Errorf("what was remembered is %q (%v)", v, err)
	}
	if got := d.read(i.ID); got.Ref != i.Ref || got.State != fleet.IntentPending {
		t.Errorf("the intent came back as %+v", got)
	}
	if d.Fence() <= fence {
		t.Errorf("the fence went from %d to %d", fence, d.Fence())
	}
}

func TestAStateOfANewerCurfewIsRefused(t *testing.T) {
	d := open(t)
	if _, err := d.w.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{DSN: "sqlite:" + d.path, Now: d.now})
	if err == nil {
		_ = s.Close()
		t.Fatal("a state of version 99 was opened")
	}
	if !strings.Contains(err.Error(), "99") || !strings.Contains(err.Error(), "newer") {
		t.Errorf("the error does not say what is wrong: %v", err)
	}
}

func TestADSNThatIsNoneIsRefused(t *testing.T) {
	for _, dsn := range []string{"", "sqlite:", "postgres://x", "/var/lib/curfew.db"} {
		if s, err := Open(t.Context(), Options{DSN: dsn, Now: time.Now}); err == nil {
			_ = s.Close()
			t.Errorf("%q was opened", dsn)
		}
	}
}

func TestAnyPathIsTheFileItNames(t *testing.T) {
	for _, name := range []string{"with space.db", "100%.db", "a?b.db", "a#b.db", "状态.db", "a&_pragma=x.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			s, err := Open(t.Context(), Options{DSN: "sqlite:" + path, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Update(t.Context(), func(tx *Tx) error { return tx.SetMeta("a", "b") }); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if info, err := os.Stat(path); err != nil || info.Size() == 0 {
				t.Errorf("the state is not in its file: %v", err)
			}
		})
	}
}

func TestASecondDaemonIsRefused(t *testing.T) {
	d := open(t)
	if _, err := Open(t.Context(), Options{DSN: "sqlite:" + d.path, Now: d.now}); !errors.Is(err, ErrLocked) {
		t.Fatalf("a second daemon was answered with %v", err)
	}
	d.do(func(tx *Tx) error { return tx.SetMeta("still", "mine") })
	d.again()
}

const holderEnv = "CURFEW_TEST_HOLD_STATE"

// TestHoldTheState is the other process of the test below; by itself it does
// nothing.
func TestHoldTheState(t *testing.T) {
	path := os.Getenv(holderEnv)
	if path == "" {
		t.Skip("it is started by another test")
	}
	s, err := Open(t.Context(), Options{DSN: "sqlite:" + path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *Tx) error {
		if err := tx.SetMeta("half", "written"); err != nil {
			return err
		}
		fmt.Println("in the middle")
		select {} // until it is killed
	})
	t.Fatal(err)
}

func TestADaemonThatIsKilledLeavesNeitherALockNorHalfAWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curfew.db")
	holder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHoldTheState$", "-test.timeout=60s")
	holder.Env = append(os.Environ(), holderEnv+"="+path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "in the middle\n" {
		t.Fatalf("the other daemon said %q (%v)", line, err)
	}
	if _, err := Open(t.Context(), Options{DSN: "sqlite:" + path, Now: time.Now}); !errors.Is(err, ErrLocked) {
		t.Errorf("while it lives, a second daemon is answered with %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // killed: that is its error
	s, err := Open(t.Context(), Options{DSN: "sqlite:" + path, Now: time.Now})
	if err != nil {
		t.Fatalf("after it was killed: %v", err)
	}
	defer func() { _ = s.Close() }()
	if v, err := s.Meta(t.Context(), "half"); err != nil || v != "" {
		t.Errorf("half a transaction is there: %q (%v)", v, err)
	}
}

func TestTheOlderOfTwoDaemonsMayChangeNothing(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	// Somebody takes the lock away: only the fence is left.
	if err := os.Remove(d.path + ".lock"); err != nil {
		t.Fatal(err)
	}
	second, err := Open(t.Context(), Options{DSN: "sqlite:" + d.path, Now: d.now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if second.Fence() <= d.Fence() {
		t.Errorf("the second daemon has fence %d after %d", second.Fence(), d.Fence())
	}
	asked := false
	for range 2 {
		err := d.Update(t.Context(), func(tx *Tx) error {
			asked = true
			i.State = fleet.IntentStarted
			return tx.SaveIntent(&i, fleet.IntentPending, "started")
		})
		if !errors.Is(err, ErrFenced) {
			t.Errorf("the older one was answered with %v", err)
		}
	}
	if asked {
		t.Error("the older one got as far as asking what to write")
	}
	got, err := second.Intent(t.Context(), i.ID)
	if err != nil || got.State != fleet.IntentPending {
		t.Errorf("the newer one sees %s (%v)", got.State, err)
	}
	if err := second.Update(t.Context(), func(tx *Tx) error { return tx.SaveIntent(&got, fleet.IntentPending, "mine") }); err != nil {
		t.Errorf("the newer one: %v", err)
	}
}

func TestWhatIsRolledBackLeavesNothing(t *testing.T) {
	refuse := errors.New("refused")
	for _, c := range []struct {
		name string
		hook func(Phase, bool) error
		err  error
		kept bool
	}{
		{"by the function", nil, refuse, false},
		{"before the commit", func(p Phase, _ bool) error {
			if p == BeforeCommit {
				return refuse
			}
			return nil
		}, nil, false},
		{"killed after the commit", func(p Phase, _ bool) error {
			if p == AfterCommit {
				return refuse
			}
			return nil
		}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, c.hook)
			ran := false
			i := fleet.Intent{Ref: ref("a"), Action: fleet.Stop}
			err := d.Update(t.Context(), func(tx *Tx) error {
				tx.After(func() { ran = true })
				if err := tx.OpenIntent(&i, fleet.Stop); err != nil {
					return err
				}
				if err := tx.SetMeta("a", "b"); err != nil {
					return err
				}
				return c.err
			})
			if !errors.Is(err, refuse) {
				t.Fatalf("got %v", err)
			}
			if ran {
				t.Error("what was to be done after the commit was done")
			}
			want := 0
			if c.kept {
				want = 1
			}
			for _, table := range []string{"intents", "journal", "meta"} {
				if n := d.rows(table, "1=1"); n != want {
					t.Errorf("%s has %d rows, want %d", table, n, want)
				}
			}
			var number int64
			err = d.Update(t.Context(), func(tx *Tx) (err error) {
				number, err = rowsNumber(tx, "intent")
				return errors.Join(err, refuse)
			})
			if !errors.Is(err, refuse) || number != int64(want)+1 {
				t.Errorf("the next number is %d (%v)", number, err)
			}
		})
	}
}

func rowsNumber(tx *Tx, name string) (int64, error) { return number(tx.ctx, tx.tx, name) }

func TestAfterRunsOnceCommittedAndMayWriteItself(t *testing.T) {
	d := open(t)
	var order []string
	d.do(func(tx *Tx) error {
		tx.After(func() {
			v, err := d.Meta(t.Context(), "a")
			order = append(order, fmt.Sprint("sees ", v, err))
			d.do(func(tx *Tx) error { return tx.SetMeta("a", "c") })
		})
		order = append(order, "writes")
		return tx.SetMeta("a", "b")
	})
	if got := strings.Join(order, "; "); got != "writes; sees b<nil>" {
		t.Errorf("order: %s", got)
	}
	if v, err := d.Meta(t.Context(), "a"); err != nil || v != "c" {
		t.Errorf("a is %q (%v)", v, err)
	}
}

func TestAPanicLeavesTheStateUsable(t *testing.T) {
	d := open(t)
	func() {
		defer func() { _ = recover() }()
		_ = d.Update(t.Context(), func(tx *Tx) error {
			_ = tx.SetMeta("a", "b")
			panic("a fault")
		})
	}()
	d.do(func(tx *Tx) error { return tx.SetMeta("c", "d") })
	if v, err := d.Meta(t.Context(), "a"); err != nil || v != "" {
		t.Errorf("what a panic interrupted is there: %q (%v)", v, err)
	}
}

func TestADiskThatIsFullFailsCleanly(t *testing.T) {
	d := open(t)
	first := d.intent("a")
	pages := func(most string) {
		t.Helper()
		if _, err := d.w.ExecContext(t.Context(), "PRAGMA max_page_count = "+most); err != nil {
			t.Fatal(err)
		}
	}
	pages("1") // no page more than there are
	big := strings.Repeat("x", 1<<20)
	for range 3 {
		i := fleet.Intent{Ref: ref("b"), Action: fleet.Stop, Token: big}
		err := d.Update(t.Context(), func(tx *Tx) error {
			if err := tx.SetMeta("before", "the big one"); err != nil {
				return err
			}
			return tx.OpenIntent(&i, fleet.Stop)
		})
		if err == nil || !strings.Contains(err.Error(), "full") {
			t.Fatalf("a full disk was answered with %v", err)
		}
	}
	for table, want := range map[string]int{"intents": 1, "journal": 1, "meta": 0} {
		if n := d.rows(table, "1=1"); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
	if got := d.read(first.ID); got.Ref != first.Ref {
		t.Errorf("what was there reads as %+v", got)
	}
	pages("1000000")
	i := d.intent("b", func(i *fleet.Intent) { i.Token = big })
	if i.ID != first.ID+1 {
		t.Errorf("after space came back the next intent is #%d", i.ID)
	}
	d.again()
	if got := d.read(i.ID); got.Token != big {
		t.Error("what was written after space came back is not whole")
	}
}

func TestManyMayReadWhileOthersWrite(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				err := d.Update(t.Context(), func(tx *Tx) error {
					row, err := tx.Intent(i.ID)
					if err != nil {
						return err
					}
					row.Announced++
					return tx.SaveIntent(&row, fleet.IntentPending, "counted")
				})
				if err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
		wg.Go(func() {
			for range each {
				if _, err := d.OpenIntents(t.Context()); err != nil {
					t.Errorf("read: %v", err)
				}
				if _, err := d.DueDeliveries(t.Context(), noon, 10); err != nil {
					t.Errorf("read: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := d.read(i.ID).Announced; got != writers*each {
		t.Errorf("%d changes are left of %d", got, writers*each)
	}
}

func TestACallerThatGivesUpLeavesNothing(t *testing.T) {
	d := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Update(ctx, func(tx *Tx) error {
		if err := tx.SetMeta("a", "b"); err != nil {
			return err
		}
		cancel()
		return tx.SetMeta("c", "d")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := d.rows("meta", "1=1"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	d.do(func(tx *Tx) error { return tx.SetMeta("a", "b") })
}

func TestAStateThatWasTakenAwayIsWrittenNoMore(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) {
			for _, part := range []string{"", "-wal", "-shm", ".lock"} {
				if err := os.Remove(path + part); err != nil {
					t.Fatal(err)
				}
			}
		},
		"replaced by that of another daemon": func(t *testing.T, path string) {
			if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old"); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Options{DSN: "sqlite:" + path, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			i := d.intent("a")
			take(t, d.path)
			err := d.Update(t.Context(), func(tx *Tx) error {
				i.State = fleet.IntentStarted
				return tx.SaveIntent(&i, fleet.IntentPending, "started")
			})
			if !errors.Is(err, ErrReplaced) {
				t.Errorf("the one that had it open was answered with %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), d.path) {
				t.Errorf("%v does not say which file", err)
			}
		})
	}
}
