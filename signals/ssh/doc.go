// Package ssh looks at instances from the inside, over SSH and without an agent.
// Each instance has one connection that stays open; a look is the script of
// [curfew/internal/look] sent over it. What a look reads, and the files by which a
// box reports its runs and asks for a hold, are told there.
package ssh
