package look

import (
	"fmt"
	"strconv"
	"strings"

	"curfew/fleet"
)

// readCards reads nvidia-smi's table: index, name, utilisation, memory, power
// and, with drivers that know it, MIG mode. want is how many cards the platform
// says there are. The second answer is why the reading is not to be relied on;
// the cards that could be read are given all the same, since one at work is at
// work.
func readCards(s section, want int, cut string) ([]fleet.Card, string) {
	if !s.whole {
		return nil, s.failed(cut)
	}
	switch s.status {
	case "missing":
		return nil, noTool(s, want)
	case "stuck":
		return nil, "nvidia-smi hangs: earlier calls have not come back"
	}
	var cards []fleet.Card
	var doubts []string
	seen := map[int]bool{}
	for _, line := range s.lines() {
		if strings.HasPrefix(line, "WARNING: infoROM") {
			continue // a blemish of the card's own memory; the readings are sound
		}
		c, why := readCard(line)
		if why == "" && seen[c.Index] {
			why = fmt.Sprintf("card %d is listed twice", c.Index)
		}
		if why != "" {
			doubts = append(doubts, why)
			continue
		}
		seen[c.Index] = true
		cards = append(cards, c)
		if c.Utilization == nil {
			doubts = append(doubts, noUtilization(line, c))
		}
	}
	switch {
	case s.status == "0", s.status == "14": // 14: the infoROM warning
	case len(doubts) == 0, s.status == "124", s.status == "137":
		doubts = append([]string{"nvidia-smi: " + s.failed(cut)}, doubts...)
	}
	switch {
	case len(doubts) > 0:
		return cards, doubts[0]
	case len(cards) == 0:
		return nil, "nvidia-smi lists no card"
	case len(cards) < want:
		return cards, fmt.Sprintf("only %d of %d cards are listed", len(cards), want)
	}
	return cards, ""
}

// noTool judges a box without nvidia-smi: one that should have no cards and
// shows no device of any maker has none.
func noTool(s section, want int) string {
	if devices := s.lines(); len(devices) > 0 {
		return "there is no nvidia-smi to read " + Short(devices[0])
	}
	if want > 0 {
		return fmt.Sprintf("there is no nvidia-smi, but there should be cards: %d", want)
	}
	return ""
}

// readCard reads one line. A line that is no card is quoted: it mostly says what
// is wrong.
func readCard(line string) (fleet.Card, string) {
	fields := strings.Split(line, ",")
	for n := range fields {
		fields[n] = strings.TrimSpace(fields[n])
	}
	if len(fields) != 5 && len(fields) != 6 {
		return fleet.Card{}, "nvidia-smi: " + Short(line)
	}
	index, err := strconv.ParseUint(fields[0], 10, 16)
	if err != nil || fields[1] == "" {
		return fleet.Card{}, "nvidia-smi: " + Short(line)
	}
	c := fleet.Card{
		Index: int(index), Model: Short(fields[1]),
		Utilization: measure(fields[2]), MemoryMB: measure(fields[3]), PowerW: measure(fields[4]),
		MIG: len(fields) == 6 && fields[5] == "Enabled",
	}
	// In MIG mode the card as a whole has no utilisation, whatever is printed.
	if c.Utilization != nil && (c.MIG || *c.Utilization > 100) {
		c.Utilization = nil
	}
	return c, ""
}

func noUtilization(line string, c fleet.Card) string {
	if c.MIG {
		return fmt.Sprintf("card %d is in MIG mode, which has no utilisation", c.Index)
	}
	return fmt.Sprintf("card %d: utilisation is %s", c.Index, Short(strings.Split(line, ",")[2]))
}

// measure reads a figure; [N/A], [Not Supported], ERR! and the like are none.
func measure(s string) *float64 {
	n, ok := number(s)
	if !ok {
		return nil
	}
	return &n
}
