package look

import (
	"crypto/rand"
	"time"

	"curfew/fleet"
	"curfew/signals"
)

// AnswerLimit bounds the answer of a look; a box with thousands of processes
// stays well below it.
const AnswerLimit = 4 << 20

// Question is what a look is to find out.
type Question struct {
	Ask   signals.Ask
	Cards int            // how many the platform says there are
	Zone  *time.Location // in which a hold's time of day is meant; nil: the box's
	// JupyterToken is tried where a Jupyter server refuses the token it wrote down
	// itself; "" if the platform tells none.
	JupyterToken string
}

// Look is one look: what to send, and all that is needed to read the answer.
type Look struct {
	Script []byte // for the standard input of [Command]
	mark   string
	asked  question
}

// Ask makes a look. tool is how long a single program inside may take.
func Ask(q Question, tool time.Duration) Look {
	mark := "curfew-" + rand.Text()
	return Look{
		Script: []byte(script(mark, q, tool)), mark: mark,
		asked: question{ask: q.Ask, cards: q.Cards, zone: q.Zone},
	}
}

// Read tells the facts that an answer holds. The look began and ended at these
// times by our clock; cut is why the answer is not complete, "" if it is. false:
// it is no answer of a look.
func (l Look) Read(out []byte, box *Clock, began, ended time.Time, cut string) (fleet.Facts, bool) {
	a := split(out, l.mark)
	c, ok := a.clock()
	if !ok {
		return fleet.Facts{}, false
	}
	q := l.asked
	q.ahead, q.cut = box.measure(c.ahead(began, ended)), cut
	return read(a, c, q), true
}

// Clock is what is remembered of a box's clock from look to look. The zero value
// was never measured.
type Clock struct {
	ahead    time.Duration // of ours
	measured bool
}

// jitter is the difference below which two measurements of the box's clock are
// the same: whole seconds, and the way there and back. Start times that wander
// would look like new processes.
const jitter = 2 * time.Second

func (c *Clock) measure(ahead time.Duration) time.Duration {
	if moved := ahead - c.ahead; !c.measured || moved > jitter || moved < -jitter {
		c.ahead, c.measured = ahead, true
	}
	return c.ahead
}
