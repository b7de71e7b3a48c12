// Package press makes the values of buttons and links by which people answer an
// announced act, and reads them again. A value says which act and what is wanted, is
// good for a limited time and in one place only, and nobody who lacks the key can make
// or change one. It is short enough for every platform's buttons, and safe as it is in
// an address.
package press

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"
)

// What is what somebody wants of an announced act.
type What string

// What can be wanted.
const (
	HoldHour    What = "hold-1h"      // wait for an hour
	HoldMorning What = "hold-morning" // wait until the morning
	Now         What = "now"          // wait no longer
	Never       What = "never"        // wait until somebody ends that
	Approve     What = "approve"      // yes
)

// All gives what can be wanted, the most harmless first. The place of each is in the
// values: add at the end only.
func All() []What { return []What{HoldHour, HoldMorning, Now, Never, Approve} }

// Risky reports whether it hastens or allows an act.
func (w What) Risky() bool { return w == Now || w == Approve }

// Lasts is for how long a value is good at most, counted from the message it is in.
const Lasts = 72 * time.Hour

// MaxLen is how long a value is at most, in bytes: what Telegram takes for a button.
const MaxLen = 64

// Press is what a value says.
type Press struct {
	Intent  int64     // the number of the act
	Turn    int       // which of its announcements it answers, counted from 1
	What    What      // what is wanted
	Expires time.Time // in whole seconds
}

// ErrWrong is the error of a value that was not made with the key, or not for the
// place it came from.
var ErrWrong = errors.New("the value was not made here, or for another place")

// ErrExpired is the error of a value whose time is over.
var ErrExpired = errors.New("the value's time is over")

// version is of the form of values; it is raised when that changes.
const version = 1

// sealLen is how much of the seal is kept: 128 bits.
const sealLen = 16

// Value writes a press for one place, such as the buttons of one channel: in no other
// place is it good. It panics nowhere and is empty for what cannot be written, such as
// an act without a number.
func Value(key, place string, p Press) string {
	what := index(p.What)
	seconds := p.Expires.Unix()
	if what < 0 || p.Intent <= 0 || p.Turn < 0 || seconds <= 0 {
		return ""
	}
	body := []byte{version<<4 | byte(what)}
	for _, n := range []uint64{uint64(p.Intent), uint64(p.Turn), uint64(seconds)} {
		body = binary.AppendUvarint(body, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(body, seal(key, place, body)...))
}

// Read reads a value that came from a place. ErrExpired comes with what it said;
// ErrWrong is told of everything else that is not right.
func Read(key, place, value string, now time.Time) (Press, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(value) > MaxLen || len(raw) <= sealLen || key == "" || strings.ContainsAny(value, "\r\n") {
		return Press{}, ErrWrong
	}
	body, sealed := raw[:len(raw)-sealLen], raw[len(raw)-sealLen:]
	if !hmac.Equal(sealed, seal(key, place, body)) {
		return Press{}, ErrWrong
	}
	what := int(body[0] & 0xf)
	if body[0]>>4 != version || what >= len(All()) {
		return Press{}, ErrWrong // of another version, under the same key
	}
	var numbers [3]uint64
	rest := body[1:]
	for n := range numbers {
		v, size := binary.Uvarint(rest)
		if size <= 0 {
			return Press{}, ErrWrong
		}
		numbers[n], rest = v, rest[size:]
	}
	p := Press{
		Intent: int64(numbers[0]), Turn: int(numbers[1]), What: All()[what],
		Expires: time.Unix(int64(numbers[2]), 0).UTC(),
	}
	if len(rest) > 0 || p.Intent <= 0 {
		return Press{}, ErrWrong
	}
	if !now.Before(p.Expires) {
		return p, ErrExpired
	}
	return p, nil
}

func index(w What) int {
	for n, known := range All() {
		if w == known {
			return n
		}
	}
	return -1
}

// seal is the keyed hash of what a value says and of the place it is for.
func seal(key, place string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte("curfew press\x00"))
	h.Write(body)
	h.Write([]byte("\x00" + place))
	return h.Sum(nil)[:sealLen]
}
