// Package estimate reckons what a job will cost before it runs: for every offer the
// total and its five items, cheapest first, with what each sum was made of.
//
// It is pure: values in, values out. Money is whole millionths. What lies between,
// hours, shares and sums not yet rounded, is kept as exact fractions ([Number]);
// each item is rounded once, half up, and a total is the sum of its rounded items.
// Amounts of two currencies are never added: offers in another currency are ranked
// apart, unless a rate converts them. A price that nobody told is unknown and never
// nothing: the total is said to be at least what is known.
package estimate
