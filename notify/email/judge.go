package email

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"curfew/notify"
)

const (
	// busyPause is how long a server is left alone that says try again: greylisting
	// takes some minutes, and the sender's own pauses grow up to that.
	busyPause = time.Minute
	// limitPause is how long one is that counts how often it is called. QQ's thresholds
	// are secret.
	limitPause = 15 * time.Minute
)

// judge reads why a message was not delivered.
//
//	no reply                 no connection, or it was cut: tried again
//	no trusted certificate   not known: a wrong host, or somebody in between
//	no TLS spoken            the same: 465 and 587 are not alike
//	no STARTTLS offered      the same; nothing is sent without it
//	no login offered         permanent: the server takes no user and password
//	4xx                      tried again after a minute
//	535, 550 … frequency     too often, says QQ: tried again after a quarter of an hour
//	530, 534, 535, 538       permanent: user or password
//	552                      too large: once more as plain text
//	5xx after the data       it does not like the content: once more as plain text
//	other 5xx                permanent: sender, recipient or server
func judge(err error) notify.Verdict {
	code, words := reply(err)
	v := notify.Verdict{Code: strconv.Itoa(code), Detail: words}
	switch {
	case code == 0:
		return unanswered(err)
	case code < 500:
		v.Kind, v.After = notify.VerdictRetry, busyPause
	case strings.Contains(strings.ToLower(words), "frequency"):
		v.Kind, v.After = notify.VerdictRetry, limitPause
	case code == 530 || code == 534 || code == 535 || code == 538:
		v.Kind = notify.VerdictPermanent
		v.Detail = "are user and password right? some providers want an authorisation code instead: " + words
	case code == 552 || afterData(err):
		v.Kind = notify.VerdictBadMessage
	default:
		v.Kind = notify.VerdictPermanent
	}
	return v
}

// reply gives the server's reply code, or zero where there is none.
func reply(err error) (code int, words string) {
	if e, ok := errors.AsType[*gomail.SendError](err); ok {
		return e.ErrorCode(), e.Error()
	}
	if e, ok := errors.AsType[*textproto.Error](err); ok {
		return e.Code, e.Error()
	}
	return 0, ""
}

// afterData reports whether the server had the message when it refused it.
func afterData(err error) bool {
	e, ok := errors.AsType[*gomail.SendError](err)
	return ok && (e.Reason == gomail.ErrSMTPData || e.Reason == gomail.ErrSMTPDataClose || e.Reason == gomail.ErrWriteContent)
}

func unanswered(err error) notify.Verdict {
	words := err.Error()
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, wrong := errors.AsType[x509.HostnameError](err)
	_, clear := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case clear:
		return notify.Verdict{Code: "no-tls", Detail: "the server does not begin with TLS there; is it port 465, or tls: starttls that it wants?"}
	case untrusted || wrong:
		return notify.Verdict{Code: "certificate", Detail: "is host the name in the server's certificate? " + words}
	case strings.Contains(words, "does not support STARTTLS"):
		return notify.Verdict{Code: "no-starttls", Detail: "the server offers no STARTTLS; is port right? try 465"}
	case strings.Contains(words, "does not support SMTP AUTH"), errors.Is(err, gomail.ErrNoSupportedAuthDiscovered):
		return notify.Verdict{Kind: notify.VerdictPermanent, Code: "no-auth", Detail: "the server takes no user and password there; is port right?"}
	}
	return notify.Verdict{Kind: notify.VerdictRetry, Code: "network", Detail: words}
}
