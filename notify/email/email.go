// Package email sends by SMTP, over TLS, to a mail provider's outgoing server.
//
// The server's reply codes are the verdict. A message has an id of its own that every
// attempt repeats, and what answers an earlier message names that one's, so that mail
// programs show both as one conversation.
package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/proxy"

	"curfew/notify"
)

// Kind describes the channel. How much a provider takes is its secret: the limit of ten
// a minute is curfew's own. A relay may ask for no password.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "email",
		Title:       "E-mail 邮件",
		Credentials: []string{"password"},
		NoSecrets:   true,
		Settings:    []string{"from", "host", "port", "tls", "to", "user"},
		PerMinute:   10,
		SOCKSOnly:   true,
		Open:        open,
	}
}

const timeout = 10 * time.Second

type channel struct {
	name     string
	host     string
	port     int
	tls      string
	roots    *x509.CertPool // nil: the system's
	from     *mail.Address
	to       []*mail.Address
	user     string
	password string
	now      func() time.Time
	dialer   proxy.ContextDialer
	redact   func(notify.Verdict) notify.Verdict
}

// Send sends one message. People who are mentioned get a copy; where the server takes
// none for one of them, it goes out without the copies.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	v := c.send(ctx, m, copies(m.Mentions))
	return c.redact(v)
}

func (c channel) send(ctx context.Context, m notify.Message, cc []*mail.Address) notify.Verdict {
	id := m.UniqueID(c.name) + "@" + domain(c.from)
	message := c.compose(m, id, cc)
	err := c.deliver(ctx, message)
	if message.IsDelivered() { // whatever went wrong in saying goodbye
		return notify.Verdict{Kind: notify.VerdictOK, Code: "250", Ref: "<" + id + ">"}
	}
	refused, ok := errors.AsType[*gomail.SendError](err)
	if ok && refused.Reason == gomail.ErrSMTPRcptTo && !refused.IsTemp() && len(cc) > 0 {
		return c.send(ctx, m, nil)
	}
	return judge(err)
}

// deliver hands a message to the server. The end of ctx cuts the connection.
func (c channel) deliver(ctx context.Context, message *gomail.Msg) error {
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, message)
}

// client makes a client for one connection.
func (c channel) client(ctx context.Context) (*gomail.Client, error) {
	secure := &tls.Config{ServerName: c.host, MinVersion: tls.VersionTLS12, RootCAs: c.roots}
	options := []gomail.Option{
		gomail.WithPort(c.port), gomail.WithTimeout(timeout), gomail.WithHELO(domain(c.from)), gomail.WithTLSConfig(secure),
		gomail.WithoutNoop(),
	}
	switch c.tls {
	case tlsImplicit:
		options = append(options, gomail.WithSSL())
	case tlsStart:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case tlsNone:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	options = append(options, gomail.WithDialContextFunc(func(dial context.Context, network, address string) (net.Conn, error) {
		conn, err := c.dial(dial, network, address, secure)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() }) // it is over anyway
		}
		return conn, err
	}))
	if c.user != "" {
		options = append(options, gomail.WithUsername(c.user), gomail.WithPassword(c.password), gomail.WithOpportunisticSMTPAuth(
			gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthCramMD5))
	}
	return gomail.NewClient(c.host, options...)
}

// dial connects, through a proxy where there is one.
func (c channel) dial(ctx context.Context, network, address string, secure *tls.Config) (net.Conn, error) {
	conn, err := c.dialer.DialContext(ctx, network, address)
	if err != nil || c.tls != tlsImplicit {
		return conn, err
	}
	secured := tls.Client(conn, secure)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secured, nil
}

// way gives what connects. Proxies of the environment are for HTTP, and this is not.
func way(p notify.Proxy) (proxy.ContextDialer, error) {
	if p.URL == nil {
		return &net.Dialer{}, nil
	}
	dialer, err := proxy.FromURL(p.URL, &net.Dialer{})
	if err != nil {
		return nil, err
	}
	through, ok := dialer.(proxy.ContextDialer)
	if !ok {
		return nil, errors.New("the proxy cannot be given up on")
	}
	return through, nil
}

// copies gives the people who are mentioned, where they are addresses.
func copies(mentions []string) []*mail.Address {
	var all []*mail.Address
	for _, who := range mentions {
		if a, err := mail.ParseAddress(who); err == nil && len(all) < maxTo {
			all = append(all, a)
		}
	}
	return all
}

func domain(a *mail.Address) string { return a.Address[strings.LastIndexByte(a.Address, '@')+1:] }
