package httpx

import "context"

type (
	markKey  struct{}
	classKey struct{}
)

// Read marks the requests made with ctx as reads: they may be sent more than
// once. On many platforms the method does not tell, so that the adapter says it.
// Unmarked requests are writes.
func Read(ctx context.Context) context.Context { return context.WithValue(ctx, markKey{}, true) }

// Write marks the requests made with ctx as writes: they are sent at most once.
// It undoes [Read].
func Write(ctx context.Context) context.Context { return context.WithValue(ctx, markKey{}, false) }

func isRead(ctx context.Context) bool {
	read, _ := ctx.Value(markKey{}).(bool)
	return read
}

// Class says what a request is for, and so which share of the budget pays it.
type Class string

// The classes. Observe is the zero value.
const (
	Observe Class = ""     // polls and looks
	Act     Class = "act"  // writes and the reads around them; never refused
	Hunt    Class = "hunt" // looking for stock; the first to yield
)

// WithClass puts the requests made with ctx into a class. A write is always
// [Act].
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

func classOf(ctx context.Context) Class {
	if !isRead(ctx) {
		return Act
	}
	c, _ := ctx.Value(classKey{}).(Class)
	return c
}
