package email_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// double is a strict SMTP server on this machine. It takes a message only as the
// standards want it: in the order of RFC 5321, in lines that end with CRLF and are not
// too long, in seven bits, with the headers that people's programs need.
type double struct {
	t     testing.TB
	port  int
	roots *x509.CertPool

	o        doubleOptions
	cert     tls.Certificate
	mu       sync.Mutex
	script   map[string][]string // replies by stage, used up one by one
	received []received
	sessions int
}

type doubleOptions struct {
	implicit bool   // TLS from the start
	noTLS    bool   // no STARTTLS is offered
	auth     string // mechanisms that are offered; none: AUTH is not
	host     string // of the certificate
	leaves   bool   // after it has greeted
}

// received is one message that was taken.
type received struct {
	raw         string
	from        string
	to          []string
	header      mail.Header
	subject     string
	plain, html string
}

const (
	user     = "curfew@example.com"
	password = "aSecretThatIsNone"
)

// startDouble runs a server until the test ends.
func startDouble(t testing.TB, o doubleOptions, script map[string][]string) *double {
	t.Helper()
	if o.host == "" {
		o.host = "127.0.0.1"
	}
	d := &double{t: t, o: o, script: script}
	d.cert, d.roots = certificate(t, o.host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := l.Addr().(*net.TCPAddr)
	d.port = addr.Port
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { d.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
		for stage, left := range d.script {
			if len(left) > 0 {
				t.Errorf("replies to %s were never asked for: %q", stage, left)
			}
		}
	})
	return d
}

// certificate makes one that is its own authority.
func certificate(t testing.TB, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "double"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{host},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{ip}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func (d *double) messages() []received {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.received)
}

// says gives the scripted reply of a stage, or the usual one.
func (d *double) says(stage, usual string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if left := d.script[stage]; len(left) > 0 {
		d.script[stage] = left[1:]
		return left[0]
	}
	return usual
}

// session is one connection.
type session struct {
	d      *double
	conn   net.Conn
	in     *bufio.Reader
	secure bool
	authed bool
	greets int
	from   string
	to     []string
}

var errCut = errors.New("cut")

func (d *double) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	s := &session{d: d, conn: conn}
	if d.o.implicit {
		s.upgrade()
	}
	s.in = bufio.NewReader(s.conn)
	d.mu.Lock()
	d.sessions++
	d.mu.Unlock()
	if s.reply("connect", "220 double ESMTP") != nil || d.o.leaves {
		return
	}
	for {
		line, err := s.line()
		if err != nil || s.command(line) != nil {
			return
		}
	}
}

func (s *session) upgrade() {
	s.conn, s.secure = tls.Server(s.conn, &tls.Config{Certificates: []tls.Certificate{s.d.cert}}), true
}

// reply writes the reply of a stage; cut ends the connection instead.
func (s *session) reply(stage, usual string) error {
	words := s.d.says(stage, usual)
	if words == "cut" {
		return errCut
	}
	_, err := io.WriteString(s.conn, strings.ReplaceAll(words, "\n", "\r\n")+"\r\n")
	if err == nil && strings.HasPrefix(words, "421") {
		err = errCut
	}
	return err
}

// line reads one line, and fails the test where it is not one of SMTP's.
func (s *session) line() (string, error) {
	line, err := s.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	text, whole := strings.CutSuffix(line, "\r\n")
	if !whole || strings.ContainsAny(text, "\r\x00") || len(text) > 998 {
		s.d.t.Errorf("smtp: a line of %d bytes is not as SMTP wants it: %.100q", len(line), line)
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c > 126 }) {
		s.d.t.Errorf("smtp: more than seven bits: %.100q", line)
	}
	return text, nil
}

func (s *session) command(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	if !s.secure && !s.d.o.noTLS && verb != "EHLO" && verb != "HELO" && verb != "STARTTLS" && verb != "QUIT" {
		s.d.t.Errorf("smtp: %q without TLS", line)
	}
	switch verb {
	case "EHLO":
		s.greets++
		if rest != "example.com" {
			s.d.t.Errorf("smtp: greets as %q", rest)
		}
		return s.reply("ehlo", s.offers())
	case "HELO": // after a refused EHLO
		return s.reply("helo", "550 5.7.1 who are you")
	case "*": // after a refused login
		return s.reply("abort", "501 5.7.0 aborted")
	case "STARTTLS":
		if err := s.reply("starttls", "220 go on"); err != nil {
			return err
		}
		s.upgrade()
		s.in = bufio.NewReader(s.conn)
		return nil
	case "AUTH":
		return s.auth(rest)
	case "MAIL":
		if s.d.o.auth != "" && !s.authed {
			s.d.t.Error("smtp: a sender without a login")
		}
		s.from, s.to = bracketed(s.d.t, line, `^MAIL FROM:<([^>]+)>( BODY=8BITMIME)?$`), nil
		return s.reply("mail", "250 ok")
	case "RCPT":
		to := bracketed(s.d.t, line, `^RCPT TO:<([^>]+)>$`)
		words := s.d.says("rcpt "+to, "250 ok")
		if strings.HasPrefix(words, "250") {
			s.to = append(s.to, to)
		}
		_, err := io.WriteString(s.conn, words+"\r\n")
		return err
	case "DATA":
		return s.data()
	case "RSET":
		s.from, s.to = "", nil
		return s.reply("rset", "250 ok")
	case "QUIT":
		_ = s.reply("quit", "221 bye")
		return errCut
	}
	s.d.t.Errorf("smtp: unknown command %q", line)
	return s.reply("unknown", "502 unknown")
}

func (s *session) offers() string {
	offers := []string{"double", "8BITMIME", "ENHANCEDSTATUSCODES"}
	if !s.secure && !s.d.o.noTLS {
		offers = append(offers, "STARTTLS")
	}
	if s.d.o.auth != "" && (s.secure || s.d.o.noTLS) {
		offers = append(offers, "AUTH "+s.d.o.auth)
	}
	var b strings.Builder
	for k, offer := range offers {
		mark := "-"
		if k == len(offers)-1 {
			mark = " "
		}
		b.WriteString("250" + mark + offer + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func bracketed(t testing.TB, line, pattern string) string {
	m := regexp.MustCompile(pattern).FindStringSubmatch(line)
	if m == nil {
		t.Errorf("smtp: %q is not as wanted", line)
		return ""
	}
	return m[1]
}

// auth takes PLAIN and LOGIN.
func (s *session) auth(rest string) error {
	mechanism, first, _ := strings.Cut(rest, " ")
	ask := func(for64 string) string {
		_, _ = io.WriteString(s.conn, "334 "+for64+"\r\n")
		line, _ := s.line()
		return line
	}
	var got string
	switch mechanism {
	case "PLAIN":
		got = decoded(first)
	case "LOGIN":
		got = "\x00" + decoded(ask("VXNlcm5hbWU6")) + "\x00" + decoded(ask("UGFzc3dvcmQ6"))
	default:
		s.d.t.Errorf("smtp: mechanism %q", mechanism)
	}
	if got != "\x00"+user+"\x00"+password {
		s.d.t.Errorf("smtp: logs in with %q", got)
	}
	s.authed = true
	return s.reply("auth", "235 welcome")
}

func decoded(b64 string) string {
	b, _ := base64.StdEncoding.DecodeString(b64)
	return string(b)
}

func (s *session) data() error {
	if words := s.d.says("data", "354 go on"); !strings.HasPrefix(words, "354") {
		_, err := io.WriteString(s.conn, words+"\r\n")
		return err
	}
	_, _ = io.WriteString(s.conn, "354 go on\r\n")
	var raw strings.Builder
	for {
		line, err := s.line()
		if err != nil {
			return err
		}
		if line == "." {
			break
		}
		raw.WriteString(strings.TrimPrefix(line, ".") + "\r\n")
	}
	got, err := parse(raw.String())
	if err != nil {
		s.d.t.Errorf("smtp: %v in\n%s", err, raw.String())
	}
	got.from, got.to = s.from, s.to
	words := s.d.says("end", "250 2.0.0 queued")
	if strings.HasPrefix(words, "250") {
		s.d.mu.Lock()
		s.d.received = append(s.d.received, got)
		s.d.mu.Unlock()
	}
	if words == "cut" {
		return errCut
	}
	_, err = io.WriteString(s.conn, words+"\r\n")
	return err
}
