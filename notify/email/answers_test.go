package email_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/notify"
	"curfew/notify/email"
	"curfew/notify/notifytest"
)

func TestConnections(t *testing.T) {
	for name, c := range map[string]struct {
		server   doubleOptions
		how      string
		change   func(*notify.Options)
		distrust bool
		want     notify.Verdict
	}{
		"TLS from the start":           {server: authed, how: "implicit", want: notify.Verdict{Kind: notify.VerdictOK, Code: "250"}},
		"STARTTLS":                     {server: doubleOptions{auth: "PLAIN"}, how: "starttls", want: notify.Verdict{Kind: notify.VerdictOK, Code: "250"}},
		"LOGIN alone":                  {server: doubleOptions{auth: "LOGIN"}, how: "starttls", want: notify.Verdict{Kind: notify.VerdictOK, Code: "250"}},
		"in the clear on this machine": {server: doubleOptions{noTLS: true, auth: "PLAIN"}, how: "none", want: notify.Verdict{Kind: notify.VerdictOK, Code: "250"}},
		"a relay that asks for nothing": {server: doubleOptions{noTLS: true}, how: "none", change: func(o *notify.Options) {
			o.Credential, o.Settings = nil, map[string]string{"host": "127.0.0.1", "port": o.Settings["port"], "tls": "none", "from": user, "to": "wang@example.org"}
		}, want: notify.Verdict{Kind: notify.VerdictOK, Code: "250"}},
		"no STARTTLS is never the clear": {server: doubleOptions{noTLS: true, auth: "PLAIN"}, how: "starttls", want: notify.Verdict{Code: "no-starttls"}},
		"no login is permanent":          {server: doubleOptions{implicit: true}, how: "implicit", want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "no-auth"}},
		"no login that is known either":  {server: doubleOptions{implicit: true, auth: "GSSAPI"}, how: "implicit", want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "no-auth"}},
		"another host's certificate":     {server: doubleOptions{implicit: true, host: "elsewhere.example"}, how: "implicit", want: notify.Verdict{Code: "certificate"}},
		"a certificate of nobody known":  {server: authed, how: "implicit", distrust: true, want: notify.Verdict{Code: "certificate"}},
		"the same after STARTTLS":        {server: doubleOptions{auth: "PLAIN"}, how: "starttls", distrust: true, want: notify.Verdict{Code: "certificate"}},
		"TLS where none is spoken":       {server: doubleOptions{leaves: true}, how: "implicit", want: notify.Verdict{Code: "no-tls"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := startDouble(t, c.server, nil)
			o := options(d.port, c.how)
			if c.change != nil {
				c.change(&o)
			}
			channel := open(t, d, o)
			if c.distrust {
				channel = email.Trust(channel, nil)
			}
			v := channel.Send(t.Context(), message())
			if diff := cmp.Diff(c.want, v, cmpopts.IgnoreFields(notify.Verdict{}, "Detail", "Ref")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s%s", diff, v.Detail)
			}
			if n := len(d.messages()); n != map[bool]int{true: 1}[v.Kind == notify.VerdictOK] {
				t.Errorf("%d messages with %+v", n, v)
			}
			notifytest.NoSecret(t, v, secrets()...)
		})
	}
}

func TestAnswers(t *testing.T) {
	retry := func(code string, after time.Duration) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictRetry, After: after, Code: code}
	}
	permanent := func(code string) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictPermanent, Code: code}
	}
	bad := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictBadMessage, Code: code} }
	for name, c := range map[string]struct {
		stage, reply string
		want         notify.Verdict
	}{
		"a server that is busy":                   {"connect", "421 4.3.2 too busy", retry("421", time.Minute)},
		"a server that wants nobody":              {"connect", "554 5.7.1 no service", permanent("554")},
		"a connection cut at once":                {"connect", "cut", retry("network", 0)},
		"a greeting that is refused":              {"ehlo", "550 5.7.1 who are you", permanent("550")},
		"STARTTLS later":                          {"starttls", "454 4.7.0 not now", retry("454", time.Minute)},
		"a wrong password":                        {"auth", "535 Login Fail. Please enter your authorization code to login.", permanent("535")},
		"logins too often, by QQ's words":         {"auth", "535 Error: login frequency limited", retry("535", 15*time.Minute)},
		"a login that is broken for now":          {"auth", "454 4.7.0 temporary authentication failure", retry("454", time.Minute)},
		"a login that needs more":                 {"auth", "534 5.7.9 application-specific password required", permanent("534")},
		"a login that is too weak":                {"auth", "538 encryption required", permanent("538")},
		"a password that is echoed":               {"auth", "535 no user " + password + " " + secrets()[2], permanent("535")},
		"a sender who is not the user":            {"mail", "553 5.7.1 mail from must equal authorized user", permanent("553")},
		"a sender without a login":                {"mail", "530 5.7.0 authentication required", permanent("530")},
		"a sender too often, by QQ's words":       {"mail", "550 Sender frequency limited", retry("550", 15*time.Minute)},
		"a sender's box is full for now":          {"mail", "452 4.3.1 insufficient system storage", retry("452", time.Minute)},
		"a message announced as too large":        {"mail", "552 5.3.4 too big", bad("552")},
		"a recipient who is not known":            {"rcpt wang@example.org", "550 5.1.1 no such user", permanent("550")},
		"a recipient who is greylisted":           {"rcpt li@example.org", "450 4.2.0 greylisted", retry("450", time.Minute)},
		"data that is refused":                    {"data", "554 5.5.1 no valid recipients", bad("554")},
		"content that is taken for spam":          {"end", "554 DT:SPM 163 smtp", bad("554")},
		"content that is refused with 550":        {"end", "550 5.7.1 content denied", bad("550")},
		"a message that is too large":             {"end", "552 5.3.4 too big", bad("552")},
		"a message too often":                     {"end", "550 Connection frequency limited", retry("550", 15*time.Minute)},
		"a message that is to come again":         {"end", "451 4.3.0 try again", retry("451", time.Minute)},
		"no answer to a message: it may be there": {"end", "cut", retry("network", 0)},
		"words that are no reply":                 {"mail", "<html>log in</html>", retry("network", 0)},
	} {
		t.Run(name, func(t *testing.T) {
			server := authed
			if c.stage == "starttls" {
				server.implicit = false
			}
			d := startDouble(t, server, map[string][]string{c.stage: {c.reply}})
			how := "implicit"
			if !server.implicit {
				how = "starttls"
			}
			v := open(t, d, options(d.port, how)).Send(t.Context(), message())
			if diff := cmp.Diff(c.want, v, cmpopts.IgnoreFields(notify.Verdict{}, "Detail")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s%s", diff, v.Detail)
			}
			if v.Detail == "" || len(d.messages()) != 0 {
				t.Errorf("%d messages, detail %q", len(d.messages()), v.Detail)
			}
			notifytest.NoSecret(t, v, secrets()...)
		})
	}
}

// A server that took the message and then fails has taken it.
func TestTakenIsTaken(t *testing.T) {
	for stage, reply := range map[string]string{"rset": "500 what", "quit": "cut"} {
		d := startDouble(t, authed, map[string][]string{stage: {reply}})
		if v := open(t, d, options(d.port, "implicit")).Send(t.Context(), message()); v.Kind != notify.VerdictOK {
			t.Errorf("%s: verdict %+v", stage, v)
		}
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, _ := l.Addr().(*net.TCPAddr)
	c, err := email.Kind().Open(options(addr.Port, "implicit"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	v := c.Send(ctx, message()) // it is connected to, and never answers
	if v.Kind != notify.VerdictRetry || v.Code != "network" || time.Since(began) > 5*time.Second {
		t.Errorf("verdict %+v after %v", v, time.Since(began))
	}
	l.Close()
	if v := c.Send(t.Context(), message()); v.Kind != notify.VerdictRetry || v.Code != "network" || v.Detail == "" {
		t.Errorf("verdict %+v", v)
	}
}

// A server that falls silent half-way is left when the time is over.
func TestTheEndOfTheTimeCutsTheConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("220 double\r\n"))
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = conn.Read(make([]byte, 4096)) // until it is cut
	}()
	addr, _ := l.Addr().(*net.TCPAddr)
	c, err := email.Kind().Open(options(addr.Port, "none"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if v := c.Send(ctx, message()); v.Kind != notify.VerdictRetry || time.Since(began) > 5*time.Second {
		t.Errorf("verdict %+v after %v", v, time.Since(began))
	}
}
