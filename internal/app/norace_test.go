//go:build !race

package app

// worldsAtMost bounds how many random worlds are tried.
const worldsAtMost = 1000
