// Package boxrun is the half of curfew exec that stands beside a training run, inside
// its box: it writes the run file that a look reads, passes the terminal and the
// signals on, waits, and tells how it went. The form of the file is that of
// [curfew/internal/look]. Nothing in here may harm the run: what cannot be written
// or sent is an error for the caller to tell, and nothing else.
package boxrun
