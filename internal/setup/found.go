package setup

import (
	"slices"
	"strings"

	"curfew/notify"
	"curfew/providers"
)

// The kinds that have a place of their own in a setup.
const (
	machinesKind = "machines"
	consoleKind  = notify.ConsoleKind
	autodlPush   = "autodlpush"
)

// Offered tells whether a platform can be set up by asking: one that takes a key,
// or a machine that is declared. A simulated world or a command of one's own is
// written by hand.
func Offered(k providers.Kind) bool { return len(k.Credentials) > 0 || k.Name == machinesKind }

// EnvName is the environment variable in which a credential of a kind usually is.
func EnvName(kind, key string) string {
	return strings.ToUpper(strings.ReplaceAll(kind, "-", "_") + "_" + key)
}

// EnvNames gives the variable of each credential of a kind, where all of them are
// set.
func EnvNames(kind string, keys []string, env func(string) (string, bool)) map[string]string {
	names := make(map[string]string, len(keys))
	for _, key := range keys {
		for _, name := range envNames(kind, key) {
			if v, ok := env(name); ok && strings.TrimSpace(v) != "" && names[key] == "" {
				names[key] = name
			}
		}
	}
	if len(names) < len(keys) || len(keys) == 0 {
		return nil
	}
	return names
}

// envNames lists where a credential may be, the likeliest first. AutoDL's messages
// take the token of its account.
func envNames(kind, key string) []string {
	names := []string{EnvName(kind, key)}
	if kind == autodlPush {
		names = append(names, EnvName("autodl", key))
	}
	return names
}

// ChannelsInOrder puts the channels that are easiest to come by first. AutoDL's
// own comes first where somebody has a token or a machine there; the console,
// which tells nobody who is not looking, comes last.
func ChannelsInOrder(kinds []notify.Kind, autodl bool) []notify.Kind {
	easy := []string{"serverchan", "pushplus", "wecom", "slack"}
	if autodl {
		easy = slices.Insert(easy, 0, autodlPush)
	}
	rank := func(k notify.Kind) int {
		if n := slices.Index(easy, k.Name); n >= 0 {
			return n
		}
		if k.Name == consoleKind {
			return len(easy) + 1
		}
		return len(easy)
	}
	out := slices.Clone(kinds)
	slices.SortStableFunc(out, func(a, b notify.Kind) int { return rank(a) - rank(b) })
	return out
}

// ChannelName is what a channel of a kind is called: wx where the messages end in
// somebody's WeChat.
func ChannelName(kind string) string {
	switch kind {
	case autodlPush, "serverchan", "pushplus", "wecom", "wxpusher":
		return "wx"
	case consoleKind:
		return "me"
	}
	return kind
}
