package accept

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Thresholds say what a machine must come up to. A figure of zero is not asked for.
type Thresholds struct {
	CUDA          Version // wanted; zero: any
	AllReduceFail float64 // bytes a second
	AllReduceWarn float64
	Shm           int64   // bytes, where there are several cards
	Disk          float64 // bytes a second
	Network       float64
	URL           string // what is downloaded; empty: nothing
	Path          string // where the disk is tried; empty: the home directory
	Cores         float64
	Memory        int64
	Free          int64
	// Spread is by how many percent clocks and products may differ under load.
	Spread float64
	// Require are the checks that fail where nothing could be read.
	Require []Check
	// Off are the checks that are left out.
	Off     []Check
	Timeout time.Duration
}

// The units that sizes and speeds are counted in.
const (
	kb = 1000
	mb = 1000 * kb
	gb = 1000 * mb
	tb = 1000 * gb
)

// Defaults are the thresholds where nothing is said.
func Defaults() Thresholds {
	return Thresholds{
		AllReduceFail: gb, AllReduceWarn: 5 * gb, Shm: gb, Disk: 500 * mb, Network: 20 * mb,
		Spread: 30, Timeout: 10 * time.Minute,
	}
}

func (t Thresholds) off(c Check) bool { return slices.Contains(t.Off, c) }

// ParseVersion reads a version of CUDA, such as 12.4 or 12.
func ParseVersion(s string) (Version, error) {
	major, minor, dotted := strings.Cut(s, ".")
	var v Version
	var err error
	if v.Major, err = strconv.Atoi(major); err == nil && dotted {
		v.Minor, err = strconv.Atoi(minor)
	}
	if err != nil || v.Major < 1 || v.Major > 99 || v.Minor < 0 || v.Minor > 99 {
		return Version{}, fmt.Errorf("%q is not a version of CUDA; write such as 12.4", s)
	}
	return v, nil
}

// ParseSize reads an amount of data in bytes: 64GB, with 1 GB = 1000 MB.
func ParseSize(s string) (int64, error) {
	v, ok := amount(s, "")
	if !ok {
		return 0, fmt.Errorf("%q is not an amount of data; write such as 64GB", s)
	}
	return int64(v), nil
}

// ParseSpeed reads a speed in bytes a second: 500MB/s.
func ParseSpeed(s string) (float64, error) {
	v, ok := amount(s, "/s")
	if !ok {
		return 0, errors.New(strconv.Quote(s) + " is not a speed; write such as 500MB/s or 1GB/s")
	}
	return v, nil
}

func amount(s, after string) (float64, bool) {
	m := regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([MGT]B)` + after + `$`).FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	v *= map[string]float64{"MB": mb, "GB": gb, "TB": tb}[m[2]]
	return v, err == nil && v > 0 && v < 1e18
}

// Size gives bytes for people.
func Size(bytes float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{tb, "TB"}, {gb, "GB"}, {mb, "MB"}, {kb, "kB"}} {
		if bytes >= u.of {
			return digits(bytes/u.of) + " " + u.name
		}
	}
	return digits(bytes) + " B"
}

// digits gives three digits that count.
func digits(v float64) string {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if strings.Contains(s, "e") {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return s
}

// Speed gives bytes a second for people.
func Speed(v float64) string { return Size(v) + "/s" }
