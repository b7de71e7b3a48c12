package ledger

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
	"time"

	"curfew/fleet"
)

// share is amount × part ÷ whole, rounded towards zero; part lies within whole.
func share(amount, part, whole int64) int64 {
	if part <= 0 || whole <= 0 {
		return 0
	}
	if part >= whole {
		return amount
	}
	size, negative := uint64(amount), amount < 0
	if negative {
		size = -size
	}
	high, low := bits.Mul64(size, uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole)) // part < whole, so it fits
	if negative {
		return -int64(quotient)
	}
	return int64(quotient)
}

// Split cuts an amount into parts by weights. They add up to the amount: what
// rounding leaves over goes to those who lost most by it, the first of equals.
// Without any weight the first gets all.
func Split(amount int64, weights []int64) []int64 {
	parts := make([]int64, len(weights))
	var whole int64
	for _, w := range weights {
		whole += max(w, 0)
	}
	if len(weights) == 0 {
		return parts
	}
	if whole == 0 {
		parts[0] = amount
		return parts
	}
	type rest struct {
		n    int
		lost *big.Int
	}
	rests := make([]rest, 0, len(weights))
	left := amount
	for n, w := range weights {
		exact := new(big.Int).Mul(big.NewInt(amount), big.NewInt(max(w, 0)))
		quotient, lost := new(big.Int).QuoRem(exact, big.NewInt(whole), new(big.Int))
		parts[n] = quotient.Int64()
		left -= parts[n]
		rests = append(rests, rest{n, lost.Abs(lost)})
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return cmp.Or(b.lost.Cmp(a.lost), cmp.Compare(a.n, b.n)) })
	step := int64(1)
	if left < 0 {
		step = -1
	}
	for n := 0; left != 0; n++ {
		parts[rests[n].n] += step
		left -= step
	}
	return parts
}

// PerHour is what a sum over a time comes to in an hour, rounded to the nearest
// millionth; nothing over no time.
func PerHour(m fleet.Money, d time.Duration) fleet.Money {
	if d <= 0 {
		return fleet.Money{Currency: m.Currency}
	}
	n := new(big.Int).Mul(big.NewInt(m.Micros), big.NewInt(int64(time.Hour)))
	n.Add(n, big.NewInt(int64(d)/2))
	n.Div(n, big.NewInt(int64(d)))
	return fleet.Money{Micros: n.Int64(), Currency: m.Currency}
}
