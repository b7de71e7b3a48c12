package estimate

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
)

// Number is an exact fraction, such as an amount of hours. The zero value is zero.
// It never changes.
type Number struct{ r *big.Rat }

// Whole is a whole number.
func Whole(n int64) Number { return Number{big.NewRat(n, 1)} }

// Hours is a length of time in hours.
func Hours(d time.Duration) Number { return Number{big.NewRat(int64(d), int64(time.Hour))} }

// longestNumber is the most characters a number may have: beyond it nobody means it.
const longestNumber = 20

// ParseNumber reads a decimal number of 0 or more, such as 0.5.
func ParseNumber(s string) (Number, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(s) > longestNumber || whole+frac == "" || strings.Trim(whole+frac, "0123456789") != "" {
		return Number{}, fmt.Errorf("%q is not a number of 0 or more; write one, such as 1.5", s)
	}
	r, ok := new(big.Rat).SetString("0" + s)
	if !ok {
		return Number{}, fmt.Errorf("%q is not a number of 0 or more; write one, such as 1.5", s)
	}
	return Number{r}, nil
}

// ParseHours reads hours, more than none: a number, or a length of time with units.
func ParseHours(s string) (Number, error) {
	if d, err := time.ParseDuration(s); err == nil && d > 0 && strings.ContainsAny(s, "hms") {
		return Hours(d), nil
	}
	if n, err := ParseNumber(s); err == nil && !n.IsZero() {
		return n, nil
	}
	return Number{}, fmt.Errorf("%q is not an amount of hours; write such as 30, 0.5 or 1h30m", s)
}

// ParseShare reads a share above 0 and up to 1, as 0.79 or as 79%.
func ParseShare(s string) (Number, error) {
	digits, percent := strings.CutSuffix(s, "%")
	n, err := ParseNumber(digits)
	if percent {
		n = n.over(Whole(100))
	}
	if err != nil || n.IsZero() || n.Cmp(Whole(1)) > 0 {
		return Number{}, fmt.Errorf("%q is not a share above 0 and up to 1; write such as 0.79, or 79%%", s)
	}
	return n, nil
}

// ParsePercent reads a percentage of 0 or more as a share: 20% is 0.2.
func ParsePercent(s string) (Number, error) {
	digits, signed := strings.CutSuffix(s, "%")
	n, err := ParseNumber(digits)
	switch {
	case err != nil:
		return Number{}, fmt.Errorf("%q is not a percentage; write such as 20%%", s)
	case !signed && !n.IsZero():
		return Number{}, fmt.Errorf("%q has no %%; write %s%%", s, s)
	}
	return n.over(Whole(100)), nil
}

func (n Number) rat() *big.Rat {
	if n.r == nil {
		return new(big.Rat)
	}
	return n.r
}

func (n Number) plus(o Number) Number  { return Number{new(big.Rat).Add(n.rat(), o.rat())} }
func (n Number) minus(o Number) Number { return Number{new(big.Rat).Sub(n.rat(), o.rat())} }
func (n Number) times(o Number) Number { return Number{new(big.Rat).Mul(n.rat(), o.rat())} }

// over divides; what is divided by nothing is nothing, so that a missing figure
// ends no program. Who divides makes sure that there is something.
func (n Number) over(o Number) Number {
	if o.IsZero() {
		return Number{}
	}
	return Number{new(big.Rat).Quo(n.rat(), o.rat())}
}

// floor gives the largest whole number that is not larger.
func (n Number) floor() Number {
	q := new(big.Int)
	q.Div(n.rat().Num(), n.rat().Denom()) // denominators are above zero, where Div rounds down
	return Number{new(big.Rat).SetInt(q)}
}

// ceil gives the smallest whole number that is not smaller.
func (n Number) ceil() Number {
	if n.rat().IsInt() {
		return n
	}
	return n.floor().plus(Whole(1))
}

func (n Number) max(o Number) Number {
	if n.Cmp(o) < 0 {
		return o
	}
	return n
}

// IsZero reports whether it is 0.
func (n Number) IsZero() bool { return n.rat().Sign() == 0 }

// Cmp gives -1, 0 or 1 as n is less than, equal to or more than o.
func (n Number) Cmp(o Number) int { return n.rat().Cmp(o.rat()) }

// Equal reports whether both are the same number.
func (n Number) Equal(o Number) bool { return n.Cmp(o) == 0 }

// Decimal gives the number with so many decimals, rounded half up.
func (n Number) Decimal(digits int) string { return n.rat().FloatString(digits) }

// Short gives the number with at most so many decimals, without zeros at the end.
func (n Number) Short(digits int) string {
	s := n.Decimal(digits)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// String gives the number with at most six decimals.
func (n Number) String() string { return n.Short(6) }

// MarshalJSON writes a decimal of at most six decimals.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads a decimal.
func (n *Number) UnmarshalJSON(data []byte) (err error) {
	*n, err = ParseNumber(string(data))
	return err
}

// money rounds millionths half up to whole ones; false: the sum is beyond counting.
func (n Number) money(currency string) (fleet.Money, bool) {
	two := big.NewInt(2)
	sum := new(big.Int).Mul(n.rat().Num(), two)
	sum.Add(sum, n.rat().Denom())
	sum.Div(sum, new(big.Int).Mul(n.rat().Denom(), two))
	if !sum.IsInt64() {
		return fleet.Money{}, false
	}
	return fleet.Money{Micros: sum.Int64(), Currency: currency}, true
}

// Transfer is data to be moved, and how fast; a speed of zero is not known, and
// then nobody waits.
type Transfer struct {
	GB        Number `json:"gb"`
	MBPerHour Number `json:"mb_per_hour,omitzero"`
}

// IsZero reports whether nothing is moved.
func (t Transfer) IsZero() bool { return t.GB.IsZero() }

// Hours is how long it takes.
func (t Transfer) Hours() Number { return t.GB.times(Whole(1000)).over(t.MBPerHour) }

// unit splits what is written into a number and its unit.
func unit(s string, units map[string]Number) (Number, bool) {
	s = strings.TrimSpace(s)
	digits := strings.TrimRight(s, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, err := ParseNumber(strings.TrimSpace(digits))
	size, known := units[s[len(digits):]]
	return n.times(size), err == nil && known && !n.IsZero()
}

// ParseSize reads an amount of data in MB, GB or TB, as gigabytes: 80GB.
func ParseSize(s string) (Number, error) {
	n, ok := unit(s, map[string]Number{"MB": Whole(1).over(Whole(1000)), "GB": Whole(1), "TB": Whole(1000)})
	if !ok {
		if _, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "0.") != "" {
			return Number{}, fmt.Errorf("%q has no unit; write %sGB", s, s)
		}
		return Number{}, fmt.Errorf("%q is not an amount of data; write such as 80GB", s)
	}
	return n, nil
}

// ParseTransfer reads an amount of data and how fast it moves: 80GB@5MB/s.
func ParseTransfer(s string) (Transfer, error) {
	size, speed, told := strings.Cut(s, "@")
	gb, err := ParseSize(size)
	if err != nil || !told {
		return Transfer{GB: gb}, err
	}
	second := Whole(3600)
	bit := Whole(1).over(Whole(8))
	n, ok := unit(speed, map[string]Number{
		"KB/s": second.over(Whole(1000)), "MB/s": second, "GB/s": second.times(Whole(1000)),
		"Mbps": second.times(bit), "Gbps": second.times(bit).times(Whole(1000)),
	})
	if !ok {
		return Transfer{}, fmt.Errorf("%q is not a speed; write such as 5MB/s or 100Mbps", speed)
	}
	return Transfer{GB: gb, MBPerHour: n}, nil
}

// ParseClock reads a time of day as minutes since midnight; 24:00 is its end.
func ParseClock(s string) (int, error) {
	if s == "24:00" {
		return minutesOfDay, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, errors.New(strconv.Quote(s) + " is not a time of day; write such as \"23:00\"")
	}
	return t.Hour()*60 + t.Minute(), nil
}
