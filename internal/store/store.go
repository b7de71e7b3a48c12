// Package store keeps curfew's state: the journal of intents, the inventory and
// its history, runs, holds, notices and their deliveries. It is one SQLite file
// with one writer; every change of the journal names the fence under which it is
// made and fails once another daemon has taken over.
package store

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	// The SQLite driver registers itself under the name sqlite.
	_ "modernc.org/sqlite"

	"curfew/fleet"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrFenced is returned by every change once another daemon has opened the
// state: whoever gets it stops acting.
var ErrFenced = errors.New("another daemon has taken over this state; this one must not act any more")

// ErrLocked is returned by Open when another daemon has the state open.
var ErrLocked = errors.New("another curfew has this state open; stop it first, or talk to it")

// ReasonLocked is [ErrLocked] for people.
const ReasonLocked fleet.Code = "store.locked"

// ErrReplaced is returned by every change once the file is no longer the one that
// was opened: what is written to it would be lost, and another daemon may work on
// the one in its place. Whoever gets it stops acting.
var ErrReplaced = errors.New("the state was removed or replaced while it was in use; nothing more is written, start curfew again")

// Phase tells a commit hook where a transaction stands.
type Phase string

// The phases of a commit.
const (
	BeforeCommit Phase = "before-commit"
	AfterCommit  Phase = "after-commit"
)

// Options is what a store is opened with.
type Options struct {
	// DSN is sqlite:PATH.
	DSN string
	Now func() time.Time
	// OnCommit is asked around every commit, with whether it changes the journal or
	// the outbox; an error before it rolls back, and either is returned by Update.
	// Tests kill a daemon with it; nil otherwise.
	OnCommit func(p Phase, journal bool) error
}

// Store is open state. Its reading methods may be called from any goroutine;
// changes go through [Store.Update], one at a time.
type Store struct {
	w, r     *sql.DB
	lock     *os.File
	path     string
	file     os.FileInfo // what path named when it was opened
	now      func() time.Time
	fence    int64
	onCommit func(Phase, bool) error
	writing  sync.Mutex

	decoding sync.Mutex              // guards what follows
	decoded  map[string]fleet.Intent // the open intents last read, by their text
}

// Open opens or creates the state, brings its tables up to date and takes the
// fence. It returns ErrLocked while another daemon has it open.
func Open(ctx context.Context, o Options) (*Store, error) {
	path, ok := strings.CutPrefix(o.DSN, "sqlite:")
	if !ok || path == "" {
		return nil, fmt.Errorf("state %q: write sqlite:/path/to/curfew.db", o.DSN)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("state: make its folder: %w", err)
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{lock: lock, path: path, now: o.Now, onCommit: o.OnCommit}
	if err := s.open(ctx, path); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) error {
	dsn := func(extra string) string {
		return "file:" + (&url.URL{Path: path}).EscapedPath() +
			"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" + extra
	}
	if err := reserve(path); err != nil {
		return err
	}
	var err error
	if s.file, err = os.Stat(path); err != nil {
		return err
	}
	if s.w, err = sql.Open("sqlite", dsn("&_txlock=immediate")); err != nil {
		return err
	}
	s.w.SetMaxOpenConns(1)
	if s.r, err = sql.Open("sqlite", dsn("&_pragma=query_only(1)")); err != nil {
		return err
	}
	s.r.SetMaxOpenConns(4)
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	up, err := goose.NewProvider(goose.DialectSQLite3, s.w, dir)
	if err != nil {
		return err
	}
	if err := migrate(ctx, up); err != nil {
		return err
	}
	tx, err := s.w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if s.fence, err = number(ctx, tx, "fence"); err != nil {
		return err
	}
	return tx.Commit()
}

// reserve makes the file before the database does, for its owner alone: what the
// database writes beside it is given the same rights.
func reserve(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// migrate brings the tables up to date. A state that a newer curfew has changed is
// refused: what this one would write, the newer one might misread.
func migrate(ctx context.Context, up *goose.Provider) error {
	have, err := up.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the version of its tables: %w", err)
	}
	sources := up.ListSources()
	if known := sources[len(sources)-1].Version; have > known {
		return fmt.Errorf("its tables are of version %d and this curfew knows only %d; use the newer curfew", have, known)
	}
	if _, err := up.Up(ctx); err != nil {
		return fmt.Errorf("bring tables up to date: %w", err)
	}
	return nil
}

// Close closes the state and gives the lock back.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.r, s.w} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Fence is the number under which this store may change the journal.
func (s *Store) Fence() int64 { return s.fence }

// Tx is one transaction of changes. It holds the one time that all its rows
// bear, and must not be kept after the function it was given to returns.
type Tx struct {
	tx        *sql.Tx
	ctx       context.Context //nolint:containedctx // a Tx lives no longer than the call it belongs to
	store     *Store
	after     []func()
	journaled bool // the journal or the outbox changes
	Now       time.Time
}

// After runs f once the transaction is committed, and not if it is rolled back. f
// may change the state itself.
func (t *Tx) After(f func()) { t.after = append(t.after, f) }

// Update runs f in a transaction and commits it, or rolls back on its error. It
// checks the fence first.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	after, err := s.update(ctx, f)
	if err != nil {
		return err
	}
	for _, f := range after {
		f()
	}
	return nil
}

func (s *Store) update(ctx context.Context, f func(*Tx) error) (after []func(), err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.w.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("state: begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var fence int64
	if err := tx.QueryRowContext(ctx, `SELECT n FROM numbers WHERE name = 'fence'`).Scan(&fence); err != nil {
		return nil, fmt.Errorf("state: read fence: %w", err)
	}
	if fence != s.fence {
		return nil, ErrFenced
	}
	t := &Tx{tx: tx, ctx: ctx, store: s, Now: s.now().UTC()}
	if err := f(t); err != nil {
		return nil, err
	}
	if s.onCommit != nil {
		if err := s.onCommit(BeforeCommit, t.journaled); err != nil {
			return nil, err
		}
	}
	if err := s.inPlace(); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("state: commit: %w", err)
	}
	if s.onCommit != nil {
		if err := s.onCommit(AfterCommit, t.journaled); err != nil {
			return nil, err
		}
	}
	return t.after, nil
}

// inPlace reports, as an error, that the file is gone or another one. One that
// cannot be asked about now is no proof of that.
func (s *Store) inPlace() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(s.file, now) {
		return fmt.Errorf("state %s: %w", s.path, ErrReplaced)
	}
	return nil
}

func (t *Tx) exec(query string, args ...any) error {
	if _, err := t.tx.ExecContext(t.ctx, query, args...); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// querier is a database or a transaction, for reads that both offer.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// number draws the next number of a sequence, from 1 on.
func number(ctx context.Context, q querier, name string) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `INSERT INTO numbers (name, n) VALUES ($1, 1)
		ON CONFLICT (name) DO UPDATE SET n = numbers.n + 1 RETURNING n`, name).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("state: draw number of %s: %w", name, err)
	}
	return n, nil
}

// bodies reads one column of JSON into values.
func bodies[T any](ctx context.Context, q querier, query string, args ...any) ([]T, error) {
	all, err := texts(ctx, q, query, args...)
	if err != nil {
		return nil, err
	}
	var out []T
	for _, text := range all {
		v, err := decode[T](text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// texts reads one column of text.
func texts(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return out, nil
}

func decode[T any](text string) (v T, err error) {
	if err = json.Unmarshal([]byte(text), &v); err != nil {
		err = fmt.Errorf("state: a row cannot be read: %w", err)
	}
	return v, err
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("state: encode: %w", err)
	}
	return string(b), nil
}

// Meta reads one remembered value; "" where there is none.
func (s *Store) Meta(ctx context.Context, key string) (string, error) { return meta(ctx, s.r, key) }

// Meta reads one remembered value; "" where there is none.
func (t *Tx) Meta(key string) (string, error) { return meta(t.ctx, t.tx, key) }

func meta(ctx context.Context, q querier, key string) (string, error) {
	var v string
	err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = $1`, key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v, err
}

// SetMeta remembers one value.
func (t *Tx) SetMeta(key, value string) error {
	return t.exec(`INSERT INTO meta (key, value) VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
}

// millis and moment turn times to and from the form in which they are kept.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func refKey(r fleet.Ref) string { return r.String() }

// Context is the context of the transaction.
func (t *Tx) Context() context.Context { return t.ctx }
