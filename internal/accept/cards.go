package accept

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"curfew/fleet"
	"curfew/internal/boxsh"
)

const smi = "nvidia-smi"

// cards reads the list of cards.
func (a answer) cards() Reading[[]Card] {
	s, why := a.get("cards", smi)
	if !why.IsZero() {
		return unknown[[]Card](why)
	}
	var out []Card
	for line := range strings.Lines(s.body) {
		f := csv(line)
		if len(f) != 5 {
			continue
		}
		index, err := strconv.Atoi(f[0])
		if err != nil || index < 0 || f[1] == "" || slices.ContainsFunc(out, func(c Card) bool { return c.Index == index }) {
			return unknown[[]Card](garbled(smi, s.body))
		}
		c := Card{Index: index, Name: boxsh.Short(boxsh.Printable(f[1])), MemoryMB: figure(f[2]), Driver: boxsh.Short(boxsh.Printable(f[3]))}
		if busy, err := strconv.ParseFloat(f[4], 64); err == nil && busy >= 0 && busy <= 100 {
			c.Busy = &busy
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return unknown[[]Card](garbled(smi, s.body))
	}
	return known(out)
}

func csv(line string) []string {
	f := strings.Split(strings.TrimRight(line, "\r\n"), ",")
	for n := range f {
		f[n] = strings.TrimSpace(f[n])
	}
	return f
}

// cuda reads the newest version that the driver is good for from the head of nvidia-smi.
// Since driver 610 it is called that of the user-mode driver (UMD) there.
func (a answer) cuda() Reading[Version] {
	s, why := a.get("cuda", smi)
	if !why.IsZero() {
		return unknown[Version](why)
	}
	if m := regexp.MustCompile(`CUDA (?:UMD )?Version *: *([0-9]{1,2})\.([0-9]{1,2})\b`).FindStringSubmatch(s.body); m != nil {
		if v, err := ParseVersion(m[1] + "." + m[2]); err == nil {
			return known(v)
		}
	}
	return unknown[Version](garbled(smi, s.body))
}

// links reads the matrix of nvidia-smi topo -m: a row for each card, whose first columns
// are the cards in the same order. Its head may be underlined by escapes.
func (a answer) links() Reading[Links] {
	s, why := a.get("links", smi)
	if !why.IsZero() {
		return unknown[Links](why)
	}
	body := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(s.body, "")
	var rows [][]string
	cards := 0 // that the head names
	isCard := regexp.MustCompile(`^GPU[0-9]+$`)
	isLink := regexp.MustCompile(`^(X|SYS|NODE|PHB|PXB|PIX|NV[0-9]+)$`)
	for line := range strings.Lines(body) {
		f := strings.Fields(line)
		switch {
		case len(f) < 2 || !isCard.MatchString(f[0]):
		case isLink.MatchString(f[1]):
			rows = append(rows, f[1:])
		case cards == 0 && len(rows) == 0:
			for cards < len(f) && isCard.MatchString(f[cards]) {
				cards++
			}
		}
	}
	var l Links
	var others []string
	for n, row := range rows {
		if len(row) < len(rows) || row[n] != "X" {
			return unknown[Links](garbled(smi, s.body))
		}
		for _, link := range row[n+1 : len(rows)] {
			if !isLink.MatchString(link) || link == "X" {
				return unknown[Links](garbled(smi, s.body))
			}
			l.Pairs++
			if strings.HasPrefix(link, "NV") {
				l.NVLink++
			} else if !slices.Contains(others, link) {
				others = append(others, link)
			}
		}
	}
	if len(rows) == 0 || len(rows) != cards {
		return unknown[Links](garbled(smi, s.body))
	}
	slices.Sort(others)
	l.Other = strings.Join(others, " ")
	return known(l)
}

// torch is get for what PyTorch was asked; where there is none, it says what is there.
func (a answer) torch(name, program string) (section, fleet.Reason) {
	s, why := a.get(name, program)
	if s.whole && s.status == "nopython" {
		if p := a.parts["python"]; p.whole && p.status == "notorch" {
			return s, fleet.Because(WhyNoTorch, nil)
		}
	}
	return s, why
}

// framework reads what PyTorch said of each card.
func (a answer) framework() Reading[Framework] {
	s, why := a.torch("load", "PyTorch")
	if !why.IsZero() {
		return unknown[Framework](why)
	}
	f, seen := Framework{}, false
	for line := range strings.Lines(s.body) {
		w := strings.Fields(boxsh.Printable(line))
		switch {
		case len(w) == 3 && w[0] == "torch":
			if f.Version = boxsh.Short(w[1]); w[2] != "-" {
				f.CUDA = boxsh.Short(w[2])
			}
		case len(w) == 2 && w[0] == "seen":
			n, err := strconv.Atoi(w[1])
			f.Seen, seen = n, err == nil && n >= 0
		case len(w) >= 3 && w[0] == "card":
			if n, err := strconv.Atoi(w[1]); err == nil && n >= 0 {
				f.Cards = append(f.Cards, CardTried{Index: n, OK: w[2] == "ok", Said: boxsh.Short(strings.Join(w[3:], " "))})
			}
		}
	}
	switch {
	case f.Version != "" && f.CUDA == "":
		return unknown[Framework](fleet.Because(WhyCPUTorch, fleet.Values{"version": fleet.Text(f.Version)}))
	case !seen:
		return unknown[Framework](garbled("PyTorch", s.body))
	}
	return known(f)
}

// allReduce reads the bus bandwidth, which nccl-tests tells in GB/s as well. That of
// one card alone is 0 there.
func (a answer) allReduce() Reading[Bandwidth] {
	s, why := a.torch("allreduce", "all-reduce")
	if !why.IsZero() {
		return unknown[Bandwidth](why)
	}
	b := Bandwidth{By: "torch"}
	if strings.Contains(s.body, "by nccl-tests\n") {
		b.By = "nccl-tests"
	}
	for _, pattern := range []string{`(?m)^busbw ([0-9.]+)$`, `(?m)^# *Avg bus bandwidth *: *([0-9.]+) *$`} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(s.body); m != nil && figure(m[1]) > 0 {
			b.PerSecond = figure(m[1]) * gb
			return known(b)
		}
	}
	return unknown[Bandwidth](garbled("all-reduce", s.body))
}

// Bits of clocks_throttle_reasons.active that slow a card down because of heat or a
// lack of power: HwSlowdown, SwThermalSlowdown, HwThermalSlowdown and HwPowerBrake of
// nvmlClocksThrottleReasons in nvml.h. The cap of power that every card has
// (SwPowerCap, 4) is none: under load it is the rule.
const slowedDown = 0x8 | 0x20 | 0x40 | 0x80

// load reads how each card bore the load: its rates, and the samples between the
// program's begin and end in which it was at work.
func (a answer) load() Reading[[]LoadCard] {
	s, why := a.torch("load", "PyTorch")
	if !why.IsZero() {
		return unknown[[]LoadCard](why)
	}
	byIndex, under := map[int]*LoadCard{}, false
	of := func(word string) *LoadCard {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > 1023 {
			return &LoadCard{}
		}
		if byIndex[n] == nil {
			byIndex[n] = &LoadCard{Index: n}
		}
		return byIndex[n]
	}
	for line := range strings.Lines(s.body) {
		w := strings.Fields(line)
		switch {
		case len(w) == 1 && w[0] == "begin":
			under = true
		case len(w) == 1 && w[0] == "end":
			under = false
		case len(w) == 3 && w[0] == "rate" && figure(w[2]) > 0:
			of(w[1]).Rates = append(of(w[1]).Rates, figure(w[2]))
		case len(w) > 1 && w[0] == "sample" && under:
			sample(of, csv(strings.TrimPrefix(line, "sample ")))
		}
	}
	var out []LoadCard
	for _, c := range byIndex {
		if len(c.Rates) > 0 {
			out = append(out, *c)
		}
	}
	if len(out) == 0 {
		return unknown[[]LoadCard](garbled("PyTorch", s.body))
	}
	slices.SortFunc(out, func(a, b LoadCard) int { return a.Index - b.Index })
	return known(out)
}

// sample adds one: index, utilisation, clock and, where the driver tells, why it is not
// higher. A card at less than half is not at work.
func sample(of func(string) *LoadCard, f []string) {
	if len(f) < 3 || figure(f[1]) < 50 {
		return
	}
	c := of(f[0])
	if mhz := figure(f[2]); mhz > 0 {
		c.Clocks = append(c.Clocks, mhz)
	}
	if len(f) < 4 {
		return
	}
	bits, err := strconv.ParseUint(strings.TrimPrefix(f[3], "0x"), 16, 64)
	if err != nil {
		return
	}
	c.Told++
	if bits&slowedDown != 0 {
		c.Throttled++
	}
}
