package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// What the history of a thing tells, by the word under which it is kept.
const (
	whatState    = "state"
	whatPrice    = "price"
	whatBilling  = "billing"
	whatBoot     = "boot"
	priceUnknown = "unknown"
	// billingPlain is a price of the platform's of which nothing more is known.
	billingPlain = "- - provider"
)

// noteCost notes in the history of an instance what its cost follows from: state,
// price, how it is billed, and where each started hour is paid also the boot. A
// change of state counts from when the platform says that it was, if that is later
// than what was noted before, else from when it was seen.
func (t *Tx) noteCost(before *Thing, now Thing) error {
	i := now.Instance
	state, at := i.State.String(), now.SeenAt
	price := costNow(before, i)
	if !now.GoneAt.IsZero() {
		state, at, price = "gone", goneSince(now), fleet.Price{}
	}
	was, err := t.openSegment(i.Ref, whatState)
	if err != nil {
		return err
	}
	changed := was.Value != state
	switch {
	case !now.GoneAt.IsZero():
	case was.Value == "" || was.Value == "gone":
		listed, err := t.listed(fleet.Scope{Account: i.Ref.Account, Region: now.Region})
		if err != nil {
			return err
		}
		began := i.CreatedAt
		if i.State.Up() && !i.StartedAt.IsZero() {
			began = i.StartedAt
		}
		at = toldBetween(began, later(listed, was.From), at)
	case changed && i.State.Up() && !fleet.State(was.Value).Up():
		at = toldBetween(i.StartedAt, was.From, at)
	case changed && i.State == fleet.StateStopped:
		at = toldBetween(i.StoppedAt, was.From, at)
	case i.State == fleet.StateStopped && before != nil && before.Instance.State == fleet.StateStopped:
		// It was started and stopped between two readings.
		on, off := i.StartedAt, i.StoppedAt
		if on.After(was.From) && on.After(before.Instance.StoppedAt) && off.After(on) && !off.After(at) && !before.Instance.StoppedAt.IsZero() {
			if err := t.noteAll(i.Ref, fleet.StateRunning.String(), i.Price, i, on, true); err != nil {
				return err
			}
			at, changed = off, true
		}
	}
	return t.noteAll(i.Ref, state, price, i, at, changed)
}

func (t *Tx) noteAll(ref fleet.Ref, state string, price fleet.Price, i fleet.Instance, at time.Time, changed bool) error {
	if err := t.Segment(ref, whatState, state, at); err != nil || state == "gone" {
		return err
	}
	if err := t.notePrice(ref, price, i.Charge, at, changed); err != nil || i.Price.Billing != fleet.BillingPerHour {
		return err
	}
	return t.Segment(ref, whatBoot, string(i.Boot), at)
}

// notePrice notes a price and how it is billed. A price that is not told this time
// goes on as it was, unless the state it was of is over; none at all is unknown.
func (t *Tx) notePrice(ref fleet.Ref, p fleet.Price, c fleet.Charge, at time.Time, changed bool) error {
	if !p.Known() {
		was, err := t.openSegment(ref, whatPrice)
		if err != nil || !changed || was.Value == "" {
			return err
		}
		return t.Segment(ref, whatPrice, priceUnknown, at)
	}
	if err := t.Segment(ref, whatPrice, p.PerHour.String(), at); err != nil {
		return err
	}
	value := cmp.Or(string(p.Billing), "-") + " " + cmp.Or(string(c.Type), "-") + " " + string(p.Source)
	if c.Type == fleet.ChargePeriod && !c.End.IsZero() {
		value += " " + c.End.UTC().Format(time.RFC3339)
	}
	if value == billingPlain { // which goes without saying, unless it was another before
		if was, err := t.openSegment(ref, whatBilling); err != nil || was.Value == "" {
			return err
		}
	}
	return t.Segment(ref, whatBilling, value, at)
}

// costNow is what an instance costs in its present state. A period goes on costing
// its price whatever the state; what is being released costs what it did before.
func costNow(before *Thing, i fleet.Instance) fleet.Price {
	switch {
	case i.Charge.Type == fleet.ChargePeriod:
		return i.Price
	case i.State == fleet.StateReleasing && before != nil && before.Instance.State == fleet.StateStopped:
		return before.Instance.CostNow()
	}
	return i.CostNow()
}

// goneSince is the first sign that a thing was not there any more.
func goneSince(now Thing) time.Time {
	at := now.GoneAt
	for _, sign := range []time.Time{now.MissingSince, now.NotFoundAt} {
		if !sign.IsZero() && sign.Before(at) {
			at = sign
		}
	}
	return at
}

// noteResource notes in the history of what is billed beside instances its presence
// and its price. It costs nothing while it is being made.
func (t *Tx) noteResource(r Resource) error {
	ref := r.Resource.Ref
	was, err := t.openSegment(ref, whatState)
	if err != nil {
		return err
	}
	state, at := "there", r.SeenAt
	switch {
	case !r.GoneAt.IsZero():
		state, at = "gone", r.GoneAt
		if !r.MissingSince.IsZero() {
			at = r.MissingSince
		}
	case !r.Resource.Ready && was.Value != "there":
		state = "making"
	case was.Value == "" || was.Value == "gone":
		var body string
		err := t.tx.QueryRowContext(t.ctx, `SELECT body FROM resource_lists WHERE account = $1 AND region = $2 AND kind = $3`,
			ref.Account, r.Region, string(ref.Kind)).Scan(&body)
		list, err := decoded[policies.ListState](body, err)
		if err != nil {
			return err
		}
		at = toldBetween(r.Resource.CreatedAt, later(list.At, was.From), at)
	}
	if err := t.Segment(ref, whatState, state, at); err != nil || state == "gone" {
		return err
	}
	return t.notePrice(ref, r.Resource.Price, r.Resource.Charge, at, was.Value != state)
}

// toldBetween gives the moment that the platform tells, where it lies between what
// was known last and what is seen now, else the latter. What the platform shows may
// lag behind a little: a moment just before what was noted last counts from there.
// Without a reading before there is nothing to go by: the history begins with the
// first one.
func toldBetween(told, last, seen time.Time) time.Time {
	if last.IsZero() || told.After(seen) || !told.After(last.Add(-showsLate)) {
		return seen
	}
	if !told.After(last) {
		return last.Add(time.Millisecond)
	}
	return told
}

// showsLate is by how much what platforms show may lag behind what they tell.
const showsLate = time.Minute

// later gives the later of two moments; zero where the first is not known.
func later(listed, noted time.Time) time.Time {
	if !listed.IsZero() && noted.After(listed) {
		return noted
	}
	return listed
}

// listed is when a scope was last listed whole, before what is being written.
func (t *Tx) listed(s fleet.Scope) (time.Time, error) {
	var body string
	err := t.tx.QueryRowContext(t.ctx, `SELECT body FROM scopes WHERE account = $1 AND region = $2`, s.Account, s.Region).Scan(&body)
	state, err := decoded[policies.ScopeState](body, err)
	return state.At, err
}

// decoded reads one body; no row is the zero value.
func decoded[T any](body string, err error) (v T, _ error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return v, nil
	case err != nil:
		return v, fmt.Errorf("state: %w", err)
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return v, fmt.Errorf("state: %w", err)
	}
	return v, nil
}

// openSegment gives what is going on of a thing; zero where nothing was noted.
func (t *Tx) openSegment(ref fleet.Ref, what string) (Segment, error) {
	g := Segment{What: what}
	var from int64
	err := t.tx.QueryRowContext(t.ctx, `SELECT value, from_at FROM segments WHERE ref = $1 AND what = $2 AND to_at = 0`, refKey(ref), what).Scan(&g.Value, &from)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return g, nil
	case err != nil:
		return g, fmt.Errorf("state: %w", err)
	}
	g.From = moment(from)
	return g, nil
}

// AllSegments reads the history of everything, oldest first, as far back as it is
// kept.
func (s *Store) AllSegments(ctx context.Context) (map[fleet.Ref][]Segment, error) {
	out := map[fleet.Ref][]Segment{}
	err := s.EachHistory(ctx, func(ref fleet.Ref, history []Segment) error {
		out[ref] = slices.Clone(history)
		return nil
	})
	return out, err
}

// EachHistory reads what [Store.AllSegments] reads, one thing after the other. The
// slice is the next one's afterwards.
func (s *Store) EachHistory(ctx context.Context, each func(ref fleet.Ref, history []Segment) error) error {
	rows, err := s.r.QueryContext(ctx, `SELECT ref, what, value, from_at, to_at FROM segments ORDER BY ref`)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var ref fleet.Ref
	var history []Segment
	one := func() error {
		if len(history) == 0 {
			return nil
		}
		slices.SortFunc(history, func(a, b Segment) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.What, b.What)) })
		return each(ref, history)
	}
	last := ""
	for rows.Next() {
		var key string
		var g Segment
		var from, to int64
		if err := rows.Scan(&key, &g.What, &g.Value, &from, &to); err != nil {
			return fmt.Errorf("state: %w", err)
		}
		if key != last {
			if err := one(); err != nil {
				return err
			}
			if ref, err = fleet.ParseRef(key); err != nil {
				return fmt.Errorf("state: %w", err)
			}
			last, history = key, history[:0]
		}
		g.From, g.To = moment(from), moment(to)
		history = append(history, g)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return one()
}

// AllRuns reads the runs of every instance, also of those that are gone, oldest
// first.
func (s *Store) AllRuns(ctx context.Context) (map[fleet.Ref][]fleet.Run, error) {
	rs, err := bodies[fleet.Run](ctx, s.r, `SELECT body FROM runs ORDER BY ref, ended_at, id`)
	out := map[fleet.Ref][]fleet.Run{}
	for _, r := range rs {
		out[r.Ref] = append(out[r.Ref], r)
	}
	return out, err
}

// RunsOf reads the runs of one instance, oldest first.
func (s *Store) RunsOf(ctx context.Context, ref fleet.Ref) ([]fleet.Run, error) {
	return bodies[fleet.Run](ctx, s.r, `SELECT body FROM runs WHERE ref = $1 ORDER BY ended_at, id`, refKey(ref))
}

// WalletReading is what a wallet held from the first reading that showed it to the
// last.
type WalletReading struct {
	At       time.Time   `json:"at"`
	SeenAt   time.Time   `json:"seen_at"`
	Cash     fleet.Money `json:"cash"`
	Vouchers fleet.Money `json:"vouchers"`
	Credit   fleet.Money `json:"credit"`
}

// SaveWallet remembers a reading of an account's wallet, by the account's identity.
// One that shows what the last one did only moves the end of that.
func (t *Tx) SaveWallet(account string, w fleet.Wallet, at time.Time) error {
	currency := cmp.Or(w.Cash.Currency, w.Vouchers.Currency)
	for _, m := range []fleet.Money{w.Cash, w.Vouchers, w.Credit} {
		if m.Micros != 0 && m.Currency != currency {
			return fmt.Errorf("wallet of %s: %w", account, fleet.ErrCurrency)
		}
	}
	var from, seen, cash, vouchers, credit int64
	var have string
	err := t.tx.QueryRowContext(t.ctx, `SELECT at, seen_at, cash, vouchers, credit, currency FROM wallets WHERE account = $1 ORDER BY at DESC LIMIT 1`, account).
		Scan(&from, &seen, &cash, &vouchers, &credit, &have)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return fmt.Errorf("state: %w", err)
	case millis(at) <= seen:
		return nil // of a clock that was put back
	case cash == w.Cash.Micros && vouchers == w.Vouchers.Micros && credit == w.Credit.Micros && have == currency:
		return t.exec(`UPDATE wallets SET seen_at = $1 WHERE account = $2 AND at = $3`, millis(at), account, from)
	}
	return t.exec(`INSERT INTO wallets (account, at, seen_at, cash, vouchers, credit, currency) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		account, millis(at), millis(at), w.Cash.Micros, w.Vouchers.Micros, w.Credit.Micros, currency)
}

// Wallets reads what every wallet held since a moment, by the account's identity,
// oldest first, as far back as it is kept.
func (s *Store) Wallets(ctx context.Context, since time.Time) (map[string][]WalletReading, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT account, at, seen_at, cash, vouchers, credit, currency FROM wallets WHERE seen_at >= $1 ORDER BY account, at`, millis(since))
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string][]WalletReading{}
	for rows.Next() {
		var account, currency string
		var w WalletReading
		var at, seen int64
		if err := rows.Scan(&account, &at, &seen, &w.Cash.Micros, &w.Vouchers.Micros, &w.Credit.Micros, &currency); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		w.At, w.SeenAt = moment(at), moment(seen)
		w.Cash.Currency, w.Vouchers.Currency, w.Credit.Currency = currency, currency, currency
		out[account] = append(out[account], w)
	}
	return out, rows.Err()
}

// Stops reads every stop and release that was carried out, as far back as the
// journal is kept, oldest first.
func (s *Store) Stops(ctx context.Context) ([]fleet.Intent, error) {
	return bodies[fleet.Intent](ctx, s.r, `SELECT body FROM intents WHERE state = 'closed' AND outcome IN ($1, $2) AND action IN ($3, $4) ORDER BY id`,
		string(fleet.OutcomeDone), string(fleet.OutcomeDoneStillBilling), fleet.Stop.String(), fleet.Release.String())
}
