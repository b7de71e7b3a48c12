package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Inspection is what can be told of a state without opening it for work.
type Inspection struct {
	Version, Known int64    // of its tables: what they are of, and what this program knows
	Problems       []string // that the database finds in itself
	// Requests are those counted in the last 24 hours, by account, where a day's are
	// limited.
	Requests map[string]int
}

// Inspect reads a state as it is, beside a daemon if there is one: it takes no
// lock, changes nothing and brings no tables up to date. Checking the whole file
// takes a second for every few hundred MB.
func Inspect(ctx context.Context, dsn string, now time.Time) (Inspection, error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok || path == "" {
		return Inspection{}, fmt.Errorf("state %q: write sqlite:/path/to/curfew.db", dsn)
	}
	if _, err := os.Stat(path); err != nil {
		return Inspection{}, err
	}
	in, err := inspect(ctx, path, "mode=ro", now)
	if err != nil && len(in.Problems) == 0 && noLog(path) {
		// Where nothing may be made beside it and nobody has it open, the file alone is
		// the whole state.
		return inspect(ctx, path, "immutable=1", now)
	}
	return in, err
}

func noLog(path string) bool {
	_, err := os.Stat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

func inspect(ctx context.Context, path, how string, now time.Time) (Inspection, error) {
	in := Inspection{Known: newestMigration(), Requests: map[string]int{}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+how+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return in, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if err := db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&in.Version); err != nil {
		return in, err
	}
	if err := rowsOf(ctx, db, `PRAGMA quick_check(20)`, func(rows *sql.Rows) error {
		var says string
		err := rows.Scan(&says)
		if err == nil && says != "ok" {
			in.Problems = append(in.Problems, says)
		}
		return err
	}); err != nil {
		return in, err
	}
	if len(in.Problems) > 0 {
		return in, nil // what a damaged state says is not repeated
	}
	const slot = time.Hour
	return in, rowsOf(ctx, db, `SELECT account, SUM(n) FROM requests WHERE span = $1 AND since >= $2 GROUP BY account`, func(rows *sql.Rows) error {
		var account string
		var n int
		err := rows.Scan(&account, &n)
		in.Requests[account] = n
		return err
	}, slot.Milliseconds(), millis(now.Add(-24*time.Hour)))
}

func rowsOf(ctx context.Context, db *sql.DB, query string, each func(*sql.Rows) error, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// newestMigration is the version of the tables that this program makes.
func newestMigration() int64 {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return 0
	}
	var newest int64
	for _, f := range files {
		number, _, _ := strings.Cut(f.Name(), "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}
