package notify

import "context"

// Press is one press of a button, as a channel heard of it.
type Press struct {
	Value string // of the [Action]
	User  string // the platform's own id of the person, by which people are allowed
	Name  string // what the platform calls the person, for others to read
}

// Heard is what is said to a press.
type Heard struct {
	// Words say what came of it; empty: nothing more is to be said.
	Words string
	// Settled says that there is nothing more to press in the message: the words are
	// written into it, for all to read, and its buttons go. Else they are for the one who
	// pressed alone.
	Settled bool
}

// Hear is told of every press, and says what came of it. It returns once that is
// certain; an error means that it is not, and that the press may come again.
type Hear func(ctx context.Context, p Press) (Heard, error)

// Listener is a channel that can hear when buttons of its messages are pressed.
type Listener interface {
	Channel
	// Hears names what it listens to, and is the same for channels that would take
	// presses from each other: only one of them listens, for all. It is no secret; empty:
	// it was not given what it takes to hear.
	Hears() string
	// Listen tells hear of presses until ctx is done or it can hear no more, and says
	// why. It is called again after a pause.
	Listen(ctx context.Context, hear Hear) error
}
