package email

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/mail"
	"strconv"
	"strings"

	"curfew/notify"
)

// How the connection is secured. Without TLS nothing leaves the machine.
const (
	tlsImplicit = "implicit"
	tlsStart    = "starttls"
	tlsNone     = "none"
)

// The ports that go with them.
const (
	portImplicit = 465
	portStart    = 587
	portNone     = 25
)

const maxTo = 50 // recipients; curfew's own limit

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: email: %s", o.Name, what)
	}
	c := channel{
		name: o.Name, host: o.Settings["host"], user: o.Settings["user"], password: o.Credential["password"], now: o.Now,
	}
	switch {
	case c.host == "":
		return fail("no host; give host: and your provider's outgoing mail server, like smtp.qq.com")
	case strings.ContainsAny(c.host, "/@ []") || strings.Count(c.host, ":") == 1:
		return fail("host is not a host name; give it alone, like smtp.qq.com, and the port as port:")
	case c.user == "" && c.password != "":
		return fail("a password without a user; give user: too, which is often the whole address")
	case c.user != "" && c.password == "":
		return fail("a user without a password; give password: {env: NAME} too, which at QQ and 163 is the authorisation code")
	case o.BaseURL != "":
		return fail("base_url does nothing here; give host: and port:")
	case o.Now == nil:
		return fail("no clock")
	}
	for _, read := range []func(notify.Options) string{c.readConnection, c.readPeople} {
		if trouble := read(o); trouble != "" {
			return fail(trouble)
		}
	}
	if err := Kind().CheckProxy(o.Proxy); err != nil {
		return fail("proxy: " + err.Error())
	}
	var err error
	if c.dialer, err = way(o.Proxy); err != nil {
		return fail("proxy: " + err.Error())
	}
	secrets := []string{c.password}
	if c.password != "" {
		encode := base64.StdEncoding.EncodeToString
		secrets = append(secrets, encode([]byte(c.password)), encode([]byte("\x00"+c.user+"\x00"+c.password)))
	}
	c.redact = notify.Poster{Secrets: secrets}.Redact
	if _, err := c.client(context.Background()); err != nil {
		return fail("host or port is not what a mail server has: " + err.Error())
	}
	return c, nil
}

// readConnection reads how the server is reached, and gives what is wrong with it.
func (c *channel) readConnection(o notify.Options) (trouble string) {
	port, how := o.Settings["port"], o.Settings["tls"]
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return fmt.Sprintf("port %q is no port; leave it out for 465, or write 587 with STARTTLS", port)
		}
		c.port = n
	}
	switch {
	case how != "":
		c.tls = how
	case c.port == 0 || c.port == portImplicit:
		c.tls = tlsImplicit
	default:
		c.tls = tlsStart
	}
	usual := map[string]int{tlsImplicit: portImplicit, tlsStart: portStart, tlsNone: portNone}[c.tls]
	switch {
	case usual == 0:
		return fmt.Sprintf("tls %q is not known; write implicit, starttls or none", how)
	case c.tls == tlsNone && c.host != "localhost" && c.host != "127.0.0.1" && c.host != "::1":
		return "tls: none would send password and messages for all to read; it is for a server on this machine only"
	case c.port == 0:
		c.port = usual
	}
	return ""
}

// readPeople reads from whom and to whom, and gives what is wrong with it. Most
// providers want the sender to be the user.
func (c *channel) readPeople(o notify.Options) (trouble string) {
	from := o.Settings["from"]
	if from == "" && strings.Contains(c.user, "@") {
		from = c.user
	}
	if from == "" {
		return "no from; give from: and the address to send from"
	}
	var err error
	if c.from, err = mail.ParseAddress(from); err != nil {
		return fmt.Sprintf("from %q is no address; write one like curfew@example.com", from)
	}
	if c.from.Name == "" {
		c.from.Name = "curfew"
	}
	to := o.Settings["to"]
	if to == "" {
		return "no to; give to: and the addresses to send to, with commas between them"
	}
	c.to, err = mail.ParseAddressList(to)
	switch {
	case err != nil:
		return fmt.Sprintf("to %q is not a list of addresses; write one like wang@example.com, li@example.com", to)
	case len(c.to) > maxTo:
		return fmt.Sprintf("to has %d addresses, and %d is the most; make a mailing list", len(c.to), maxTo)
	}
	return ""
}
