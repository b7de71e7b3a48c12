package setup

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"curfew/fleet"
)

// Why an answer is not taken.
const (
	ReasonNoSuch     fleet.Code = "cli.init.no-such"
	ReasonYesOrNo    fleet.Code = "cli.init.yes-or-no"
	ReasonControl    fleet.Code = "cli.init.not-printable"
	ReasonSpaces     fleet.Code = "cli.init.spaces"
	ReasonNoGlob     fleet.Code = "cli.init.no-glob"
	ReasonNoPattern  fleet.Code = "cli.init.no-pattern"
	ReasonPatternAll fleet.Code = "cli.init.pattern-all"
	ReasonNoPrice    fleet.Code = "cli.init.no-price"
	ReasonNoDays     fleet.Code = "cli.init.no-days"
)

// Question is one question as data.
type Question struct {
	Ask     fleet.Reason
	Options []Option // to choose from; none: any words
	// Default is the answer where nothing is said, and Shown how it is told; neither
	// is a question that needs an answer.
	Default, Shown string
	Secret         bool // its answer is never shown
	// Check refuses an answer, or puts it into form.
	Check func(answer string) (string, fleet.Reason)
}

// Option is one answer to choose: by its number or its name.
type Option struct {
	Name string
	Text string
	Note string // why it is offered; empty: nothing to say
}

// HasDefault reports whether saying nothing is an answer.
func (q Question) HasDefault() bool { return q.Default != "" || q.Shown != "" }

// Read takes a line as the answer. A reason says why it is none.
func (q Question) Read(line string) (string, fleet.Reason) {
	answer := strings.TrimSpace(line)
	if answer == "" {
		answer = q.Default
	}
	if strings.ContainsFunc(answer, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return "", fleet.Because(ReasonControl, nil)
	}
	if len(q.Options) > 0 {
		n, err := strconv.Atoi(answer)
		if err != nil {
			n = 1 + slices.IndexFunc(q.Options, func(o Option) bool { return strings.EqualFold(o.Name, answer) })
		}
		if n < 1 || n > len(q.Options) {
			return "", fleet.Because(ReasonNoSuch, fleet.Values{"count": fleet.Number(float64(len(q.Options)))})
		}
		return q.Options[n-1].Name, fleet.Reason{}
	}
	if q.Check != nil && answer != "" {
		return q.Check(answer)
	}
	return answer, fleet.Reason{}
}

// The answers to a question of yes or no.
const (
	Yes = "y"
	No  = "n"
)

// YesNo takes yes or no, in either language.
func YesNo(answer string) (string, fleet.Reason) {
	switch strings.ToLower(answer) {
	case "y", "yes", "是", "好", "对", "收到":
		return Yes, fleet.Reason{}
	case "n", "no", "否", "不", "不是", "没有":
		return No, fleet.Reason{}
	}
	return "", fleet.Because(ReasonYesOrNo, nil)
}

// Credential takes a key or token: one word.
func Credential(answer string) (string, fleet.Reason) {
	if strings.ContainsFunc(answer, unicode.IsSpace) {
		return "", fleet.Because(ReasonSpaces, nil)
	}
	return answer, fleet.Reason{}
}

// Glob takes a name in which * stands for anything.
func Glob(answer string) (string, fleet.Reason) {
	if _, err := path.Match(answer, ""); err != nil {
		return "", fleet.Because(ReasonNoGlob, nil)
	}
	return answer, fleet.Reason{}
}

// Pattern takes a regular expression that is not about everything.
func Pattern(answer string) (string, fleet.Reason) {
	re, err := regexp.Compile(answer)
	switch {
	case err != nil:
		return "", fleet.Because(ReasonNoPattern, fleet.Values{"why": fleet.Text(strings.TrimPrefix(err.Error(), "error parsing regexp: "))})
	case re.MatchString(""):
		return "", fleet.Because(ReasonPatternAll, nil)
	}
	return answer, fleet.Reason{}
}

// Price takes an amount for an hour. One without a currency is in yuan.
func Price(answer string) (string, fleet.Reason) {
	s := strings.TrimSpace(strings.TrimLeft(answer, "¥￥"))
	if !strings.Contains(s, " ") {
		s += " CNY"
	}
	m, err := fleet.ParseMoney(strings.ToUpper(s))
	if err != nil || m.Micros <= 0 {
		return "", fleet.Because(ReasonNoPrice, nil)
	}
	return m.String(), fleet.Reason{}
}

// Days takes a number of days, with or without the unit.
func Days(answer string) (string, fleet.Reason) {
	s := strings.TrimRight(answer, "d天 ")
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 3650 {
		return "", fleet.Because(ReasonNoDays, nil)
	}
	return strconv.Itoa(n) + "d", fleet.Reason{}
}
