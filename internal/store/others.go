package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"curfew/fleet"
)

// othersAtOnce is how many things are read by one query.
const othersAtOnce = 500

// EachOther reads every instance and every resource that the caller does not have at
// hand, such as what is gone, as long as the history is kept; of resources what they
// share with an instance. Of what the caller has no more than the reference is read.
func (s *Store) EachOther(ctx context.Context, has func(fleet.Ref) bool, each func(fleet.Instance) error) error {
	things, err := s.keysWithout(ctx, `SELECT ref FROM things`, has)
	if err != nil {
		return err
	}
	resources, err := s.keysWithout(ctx, `SELECT ref FROM resources`, has)
	if err != nil {
		return err
	}
	if err := eachBody(ctx, s, "things", things, func(t Thing) error { return each(t.Instance) }); err != nil {
		return err
	}
	return eachBody(ctx, s, "resources", resources, func(r Resource) error { return each(r.Resource.Subject()) })
}

// keysWithout gives the keys that a query reads, without those of what the caller has.
func (s *Store) keysWithout(ctx context.Context, query string, has func(fleet.Ref) bool) ([]string, error) {
	rows, err := s.r.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		ref, err := fleet.ParseRef(key)
		if err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		if !has(ref) {
			out = append(out, key)
		}
	}
	return out, rows.Err()
}

// eachBody reads the bodies under keys of a table.
func eachBody[T any](ctx context.Context, s *Store, table string, keys []string, each func(T) error) error {
	for some := range slices.Chunk(keys, othersAtOnce) {
		places, args := make([]string, len(some)), make([]any, len(some))
		for n, key := range some {
			places[n], args[n] = "$"+strconv.Itoa(n+1), key
		}
		all, err := texts(ctx, s.r, `SELECT body FROM `+table+` WHERE ref IN (`+strings.Join(places, ", ")+`) ORDER BY ref`, args...)
		if err != nil {
			return err
		}
		for _, body := range all {
			var one T
			if err := json.Unmarshal([]byte(body), &one); err != nil {
				return fmt.Errorf("state: one of %s cannot be read: %w", table, err)
			}
			if err := each(one); err != nil {
				return err
			}
		}
	}
	return nil
}
