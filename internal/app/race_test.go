//go:build race

package app

// worldsAtMost bounds how many random worlds are tried: watched by the race detector
// each takes many times as long.
const worldsAtMost = 150
