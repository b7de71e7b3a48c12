// Package fleet is the vocabulary of curfew: what can be rented, what was seen
// of it, what is wished for it and what went wrong. It holds plain values and
// pure functions only: no input or output, no clock, and nothing but the
// standard library. Reading this package is reading the product.
//
// Three words carry most of the weight:
//
//   - A [Ref] names what is billed. It survives reboots and renames.
//   - A [Boot] names one power cycle of it. Evidence, runs and intents belong to
//     one Boot and are worth nothing in another.
//   - [Activity] is what is known of the work going on. Its zero value is
//     Unknown, and Unknown is never idle.
package fleet
