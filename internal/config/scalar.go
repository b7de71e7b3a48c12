package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"curfew/fleet"
)

// scalar gives a value as it is written; a list or a block is reported.
func (n node) scalar() (string, bool) {
	n = n.as(form{kind: kindAny})
	if !n.given() {
		return "", false
	}
	s, ok := n.source()
	if !ok {
		n.bad("is "+n.sort(), "write a single value")
	}
	return s, ok
}

// text reads words. A number or truth value is not guessed to be meant as words.
func (n node) text(def string) string {
	n = n.as(form{kind: kindText, def: def})
	s, ok := n.scalar()
	if !ok {
		return def
	}
	switch n.ast.(type) {
	case *ast.StringNode, *ast.LiteralNode:
	default:
		n.bad(s+" is "+n.sort()+", not text", fmt.Sprintf("write %q", s))
		return def
	}
	if strings.TrimSpace(s) == "" {
		n.bad("is empty", "write a value, or leave the key out")
		return def
	}
	return s
}

// word reads one of some known words.
func (n node) word(def string, known ...string) string {
	n = n.as(oneOf(kindWord, def, known))
	s, ok := n.scalar()
	if !ok {
		return def
	}
	if !slices.Contains(known, s) {
		n.bad(fmt.Sprintf("%q is not known here", s), suggest(s, known))
		return def
	}
	return s
}

// flag reads true or false.
func (n node) flag() bool {
	n = n.as(form{kind: kindFlag, def: "false"})
	s, ok := n.scalar()
	if !ok {
		return false
	}
	b, ok := n.ast.(*ast.BoolNode)
	if !ok {
		n.bad(fmt.Sprintf("%q is not true or false", s), "write true or false")
		return false
	}
	return b.Value
}

// whole reads a whole number of at least least. off is 0 where orOff.
func (n node) whole(def, least int, orOff bool) int {
	n = n.as(form{kind: kindWhole, least: least, off: orOff, def: fmt.Sprint(def)})
	s, ok := n.scalar()
	if !ok {
		return def
	}
	if orOff && s == "off" {
		return 0
	}
	right := fmt.Sprintf("write a whole number of %d or more", least)
	if orOff {
		right += ", or off"
	}
	v, err := strconv.Atoi(s)
	if _, isInt := n.ast.(*ast.IntegerNode); !isInt || err != nil {
		n.bad(fmt.Sprintf("%q is not a whole number", s), right)
		return def
	}
	if v < least || v > math.MaxInt32 {
		n.bad(fmt.Sprintf("%d is out of range", v), right)
		return def
	}
	return v
}

// percent reads a share such as 50%, above 0 and up to 100. off is 0 where
// orOff.
func (n node) percent(def float64, orOff bool) float64 {
	n = n.as(form{kind: kindPercent, off: orOff, def: percentText(def)})
	s, ok := n.scalar()
	if !ok {
		return def
	}
	if orOff && s == "off" {
		return 0
	}
	digits, signed := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil:
		n.bad(fmt.Sprintf("%q is not a share", s), "write a percentage, such as 50%")
	case !signed:
		n.bad(fmt.Sprintf("%q has no %%", s), "write "+s+"%")
	case !(v > 0 && v <= 100):
		n.bad(s+" is out of range", "write more than 0% and at most 100%")
	default:
		return v
	}
	return def
}

// figure reads a number above zero.
func (n node) figure(def float64) float64 {
	n = n.as(form{kind: kindFigure, def: number(def)})
	s, ok := n.scalar()
	if !ok {
		return def
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		n.bad(fmt.Sprintf("%q is not a number above 0", s), "write one, such as 0.5")
		return def
	}
	return v
}

// date reads a day, as a date of the calendar.
func (n node) date() string {
	n = n.as(form{kind: kindDate})
	s, ok := n.scalar()
	if !ok {
		return ""
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		n.bad(fmt.Sprintf("%q is not a date", s), "write year, month and day, such as 2026-10-01")
		return ""
	}
	return s
}

// span reads a length of time, longer than nothing.
func (n node) span(def time.Duration) time.Duration { return n.length(def, false) }

// spanOrOff reads a length of time; off is 0, and 0 is refused as everywhere.
func (n node) spanOrOff(def time.Duration) time.Duration { return n.length(def, true) }

func (n node) length(def time.Duration, orOff bool) time.Duration {
	n = n.as(form{kind: kindSpan, off: orOff, def: spanText(def)})
	s, ok := n.scalar()
	if !ok {
		return def
	}
	or := ""
	if orOff {
		or = ", or off"
	}
	switch d, err := parseSpan(s); {
	case orOff && s == "off":
		return 0
	case err != nil:
		if _, e := strconv.ParseFloat(s, 64); e == nil && strings.Trim(s, "0.") != "" && !strings.HasPrefix(s, "-") {
			n.bad(fmt.Sprintf("%q has no unit", s), fmt.Sprintf("write %sm or %sh", s, s))
			return def
		}
		if strings.Trim(s, "0.") != "" {
			n.bad(fmt.Sprintf("%q is not a length of time", s), "write a number and s, m, h or d, such as 90s, 20m or 14d"+or)
			return def
		}
		fallthrough
	case d == 0:
		n.bad(s+" would mean at once", "write a length of time, such as 5m"+or)
	case d < 0:
		n.bad(s+" lies in the past", "write a length of time, such as 5m"+or)
	default:
		return d
	}
	return def
}

// parseSpan reads a duration with units, days included: 90s, 1h30m, 14d.
func parseSpan(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		if s == "0" {
			return 0, errors.New("no unit")
		}
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, err
	}
	var d time.Duration
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || d < 0 {
			return 0, errors.New("not a duration")
		}
	}
	return time.Duration(n)*24*time.Hour + d, nil
}

// spanText gives a length of time as it would be written in the file.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return "off"
	case d%day == 0 && d > day:
		return fmt.Sprintf("%dd", d/day)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// money reads an amount above zero.
func (n node) money() fleet.Money {
	n = n.as(form{kind: kindMoney})
	s, ok := n.scalar()
	if !ok {
		return fleet.Money{}
	}
	m, err := fleet.ParseMoney(s)
	if err != nil {
		n.bad(halves(err, "write an amount and a currency, such as 1.98 CNY"))
		return fleet.Money{}
	}
	if m.Micros <= 0 {
		n.bad(s+" is not a price", "write what it costs, or leave it out where that is not known")
		return fleet.Money{}
	}
	return m
}

// pattern reads a regular expression. The nil function is none.
func (n node) pattern() func(string) bool {
	n = n.as(form{kind: kindPattern})
	s := n.text("")
	if s == "" {
		return nil
	}
	re, err := regexp.Compile(s)
	if err != nil {
		n.bad(fmt.Sprintf("%q is not a regular expression (%s)", s, strings.TrimPrefix(err.Error(), "error parsing regexp: ")),
			"write Go syntax; a dot, star or bracket that is meant as such has a \\ before it")
		return nil
	}
	if re.MatchString("") {
		n.bad(fmt.Sprintf("%q matches an empty line, and so everything", s), "write what the line must hold")
		return nil
	}
	return re.MatchString
}

// glob reads a name in which * stands for anything, ? for one letter.
func (n node) glob() string {
	s := n.text("")
	if _, err := path.Match(s, ""); err != nil {
		n.bad(fmt.Sprintf("%q is not a name pattern", s), `write a name in which * stands for anything, such as "exp-*"`)
		return ""
	}
	return s
}

// insidePath reads the path of a file inside an instance.
func (n node) insidePath() string {
	n = n.as(form{kind: kindInside})
	s := n.text("")
	if s != "" && (!path.IsAbs(s) || strings.ContainsAny(s, "\x00\r\n")) {
		n.bad(fmt.Sprintf("%q is not a whole path", s), "write it from the root, such as /root/out/DONE")
		return ""
	}
	return s
}

// webURL reads the address of a service. It may hold no secret.
func (n node) webURL() string {
	n = n.as(form{kind: kindURL})
	s := n.text("")
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		n.bad("is not the address of a service", "write https://HOST, with a path where there is one and nothing after it")
		return ""
	}
	return strings.TrimSuffix(s, "/")
}

// name reads what an entry is called.
func (n node) name() string {
	n = n.as(form{kind: kindName})
	s := n.text("")
	if strings.ContainsAny(s, "/ \t\r\n\x00") {
		n.bad(fmt.Sprintf("%q holds a space or a slash", s), "write letters, digits and hyphens")
		return ""
	}
	return s
}
