package fleet

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Money is an exact amount: Micros millionths of one unit of Currency (ISO
// 4217, such as CNY). The zero value is no money of no currency and may be
// added to any.
type Money struct {
	Micros   int64  `json:"micros"`
	Currency string `json:"currency"`
}

// ErrCurrency is returned when amounts of two currencies would be added or
// compared. A rate table converts for reports and says so.
var ErrCurrency = errors.New("two currencies do not add")

// CNY is an amount in Chinese yuan, given in millionths.
func CNY(micros int64) Money { return Money{Micros: micros, Currency: "CNY"} }

// Add gives m + o, or ErrCurrency.
func (m Money) Add(o Money) (Money, error) {
	switch {
	case m.Currency == "" && m.Micros == 0:
		return o, nil
	case o.Currency == "" && o.Micros == 0:
		return m, nil
	case m.Currency != o.Currency:
		return Money{}, fmt.Errorf("%s + %s: %w", m, o, ErrCurrency)
	}
	return Money{Micros: m.Micros + o.Micros, Currency: m.Currency}, nil
}

// Neg gives -m.
func (m Money) Neg() Money { return Money{Micros: -m.Micros, Currency: m.Currency} }

// Less reports m < o, or ErrCurrency.
func (m Money) Less(o Money) (bool, error) {
	if m.Currency != o.Currency && m.Micros != 0 && o.Micros != 0 {
		return false, fmt.Errorf("%s < %s: %w", m, o, ErrCurrency)
	}
	return m.Micros < o.Micros, nil
}

// IsZero reports whether the amount is nothing.
func (m Money) IsZero() bool { return m.Micros == 0 }

// String gives the amount with at least two and at most six decimals, such as
// "1.98 CNY".
func (m Money) String() string {
	sign, u := "", uint64(m.Micros)
	if m.Micros < 0 {
		sign, u = "-", -u
	}
	frac := fmt.Sprintf("%06d", u%1e6)
	for len(frac) > 2 && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	return strings.TrimSpace(sign + strconv.FormatUint(u/1e6, 10) + "." + frac + " " + m.Currency)
}

// Round gives the amount rounded half away from zero to whole hundredths, the
// form in which people are told of sums.
func (m Money) Round() Money {
	const cent = 10_000
	half := int64(cent / 2)
	if m.Micros < 0 {
		half = -half
	}
	return Money{Micros: (m.Micros + half) / cent * cent, Currency: m.Currency}
}

// ParseMoney reads "1.98 CNY": a decimal with at most six decimals and a
// currency of three capital letters.
func ParseMoney(s string) (Money, error) {
	number, currency, ok := strings.Cut(strings.TrimSpace(s), " ")
	currency = strings.TrimSpace(currency)
	if !ok || len(currency) != 3 || strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return Money{}, fmt.Errorf("%q is not money; write an amount and a currency, such as 1.98 CNY", s)
	}
	sign, digits := "", number
	if strings.HasPrefix(number, "-") {
		sign, digits = "-", number[1:]
	}
	whole, frac, _ := strings.Cut(digits, ".")
	if len(frac) > 6 || strings.Trim(whole+frac, "0123456789") != "" || whole+frac == "" {
		return Money{}, fmt.Errorf("%q is not an amount with at most six decimals", number)
	}
	micros, err := strconv.ParseInt(sign+whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if err != nil {
		return Money{}, fmt.Errorf("%q is too large an amount", number)
	}
	return Money{Micros: micros, Currency: currency}, nil
}

// Sums are amounts in several currencies, one of each, in the order of their names.
type Sums []Money

// Add adds an amount to that of its currency. An amount of nothing in no currency
// leaves no trace.
func (s *Sums) Add(m Money) {
	if m.Currency == "" && m.Micros == 0 {
		return
	}
	at, found := slices.BinarySearchFunc(*s, m, func(a, b Money) int { return strings.Compare(a.Currency, b.Currency) })
	if found {
		(*s)[at].Micros += m.Micros
		return
	}
	*s = slices.Insert(*s, at, m)
}

// In is the amount in one currency.
func (s Sums) In(currency string) Money {
	for _, m := range s {
		if m.Currency == currency {
			return m
		}
	}
	return Money{Currency: currency}
}

// String gives the amounts, rounded to hundredths.
func (s Sums) String() string {
	words := make([]string, 0, len(s))
	for _, m := range s {
		words = append(words, m.Round().String())
	}
	return strings.Join(words, " + ")
}

// PriceSource says who told a price.
type PriceSource string

// Where a price can come from.
const (
	PriceUnknown  PriceSource = ""
	PriceProvider PriceSource = "provider"
	PriceConfig   PriceSource = "config"
)

// Billing says how time becomes money.
type Billing string

// The ways platforms bill.
const (
	BillingUnknown   Billing = ""
	BillingPerSecond Billing = "second"
	BillingPerHour   Billing = "hour" // each started hour is paid whole
	BillingPrepaid   Billing = "prepaid"
)

// Price is what a thing costs while it is in its present state. An unknown
// price is said to be unknown; it is never zero.
type Price struct {
	PerHour Money       `json:"per_hour"`
	Billing Billing     `json:"billing,omitempty"`
	Source  PriceSource `json:"source,omitempty"`
	AsOf    time.Time   `json:"as_of,omitzero"`
}

// Known reports whether somebody told the price.
func (p Price) Known() bool { return p.Source != PriceUnknown }

// For is the cost of a time at this price, by its billing rule, and whether it
// can be told: the price is known and the sum is not beyond counting. Fractions
// of a millionth are rounded half up. A negative time costs nothing.
func (p Price) For(d time.Duration) (Money, bool) {
	if !p.Known() {
		return Money{}, false
	}
	hour, n := big.NewInt(int64(time.Hour)), big.NewInt(int64(max(d, 0)))
	if p.Billing == BillingPerHour {
		n.Add(n, big.NewInt(int64(time.Hour-1)))
		n.Div(n, hour)
		n.Mul(n, hour)
	}
	n.Mul(n, big.NewInt(p.PerHour.Micros))
	n.Add(n, big.NewInt(int64(time.Hour/2)))
	n.Div(n, hour)
	if !n.IsInt64() {
		return Money{}, false
	}
	return Money{Micros: n.Int64(), Currency: p.PerHour.Currency}, true
}
