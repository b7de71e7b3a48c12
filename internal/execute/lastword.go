package execute

import (
	"fmt"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
)

// lastWordWait is how long an act that ends curfew itself waits for a channel to
// take the last notice. It is carried out then in any case: it was announced, and
// costs meanwhile.
const lastWordWait = time.Minute

// lastWord reports whether the act ends the machine that curfew runs in. Its effect
// cannot be verified from outside and told afterwards: what can be told goes out
// before the write, and the journal is settled at the next start. Another Boot
// shows that it took effect, the same one that it did not.
func lastWord(seen fleet.Instance, i fleet.Intent) bool {
	return seen.Here && (i.Action == fleet.Stop || i.Action.Destroys())
}

func askedKey(i fleet.Intent) string {
	return noticeKey(i, fmt.Sprintf("asked|%d", len(i.Attempts)))
}

// tellAsked queues the last notice: why, what it has cost, and that it is asked to
// power off now.
func (x *Executor) tellAsked(tx *store.Tx, i fleet.Intent, seen fleet.Instance) error {
	seen.Price = i.Subject.Price
	if after := seen.OnStop.ReleasesAfter; after > 0 {
		if at := tx.Now.Add(after); seen.ReleasesAt.IsZero() || at.Before(seen.ReleasesAt) {
			seen.ReleasesAt = at
		}
	}
	i.Cost = bootCost(i.Subject, seen, tx.Now)
	n := notify.Notice{
		Key: askedKey(i), Event: notify.EventAsked, Severity: fleet.Info, Category: fleet.CategoryAct,
		Subject: seen, Intent: &i, Reason: fleet.Because(ReasonAsked, nil),
	}
	for _, v := range i.Verdicts {
		if words, ok := v.Reason.Values["log"].Any().(string); ok && words != "" {
			n.Because = append(n.Because, fleet.Because(ReasonLog, fleet.Values{"log": fleet.Text(tail(words))}))
		}
	}
	return x.World.Tell(tx, n, 0)
}

// tail gives the end of a log's last lines, as much as a notice has room for.
func tail(words string) string {
	const bytes = 160
	if len(words) <= bytes {
		return words
	}
	words = words[len(words)-bytes:]
	if _, rest, ok := strings.Cut(words, "\n"); ok {
		return rest
	}
	return "…" + strings.ToValidUTF8(words, "")
}
