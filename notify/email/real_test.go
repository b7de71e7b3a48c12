package email_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"go/build"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"curfew/notify"
	"curfew/notify/email"
)

// mailpit is a mail server that others wrote: SMTP in, a REST API out.
type mailpit struct {
	api   string
	port  int
	roots *x509.CertPool
}

// startMailpit starts a Mailpit that wants TLS in the way that is named, and a login.
func startMailpit(t *testing.T, require string) mailpit {
	t.Helper()
	path, err := exec.LookPath("mailpit")
	if err != nil {
		if path, err = exec.LookPath(filepath.Join(build.Default.GOPATH, "bin", "mailpit")); err != nil {
			t.Skip("mailpit is not installed: CGO_ENABLED=0 go install github.com/axllent/mailpit@v1.33.1")
		}
	}
	cert, roots := certificate(t, "127.0.0.1")
	dir := t.TempDir()
	write := func(name, words string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	private, _ := cert.PrivateKey.(*ecdsa.PrivateKey)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certFile := write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})))
	keyFile := write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	m := mailpit{port: free(t), roots: roots}
	web := free(t)
	m.api = fmt.Sprintf("http://127.0.0.1:%d/api/v1/", web)
	p := exec.Command(path, "--smtp", fmt.Sprintf("127.0.0.1:%d", m.port), "--listen", fmt.Sprintf("127.0.0.1:%d", web), "--database", filepath.Join(dir, "mail.db"),
		"--smtp-tls-cert", certFile, "--smtp-tls-key", keyFile, require, "--smtp-auth-file", write("users", user+":"+password+"\n"),
		"--smtp-strict-rfc-headers", "--smtp-disable-rdns", "--disable-version-check", "--smtp-allowed-recipients", "@example\\.org$")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = p.Process.Kill()
			<-ended
		}
	})
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", m.port))
		if err == nil {
			_ = conn.Close()
			if resp, err := http.Get(m.api + "info"); err == nil {
				_ = resp.Body.Close()
				return m
			}
		}
		if time.Now().After(until) {
			t.Fatal("mailpit does not listen after 20 seconds")
		}
	}
}

// free gives a port that nobody listens on.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, _ := l.Addr().(*net.TCPAddr)
	return addr.Port
}

func (m mailpit) open(t *testing.T, how string, change func(*notify.Options)) notify.Channel {
	t.Helper()
	o := options(m.port, how)
	if change != nil {
		change(&o)
	}
	c, err := email.Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return email.Trust(c, m.roots)
}

func (m mailpit) get(t *testing.T, path string, into any) {
	t.Helper()
	resp, err := http.Get(m.api + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// A server and a parser that others wrote understand what is sent, over TLS from the
// start and over STARTTLS.
func TestARealServer(t *testing.T) {
	for how, require := range map[string]string{"implicit": "--smtp-require-tls", "starttls": "--smtp-require-starttls"} {
		t.Run(how, func(t *testing.T) {
			pit := startMailpit(t, require)
			m := message()
			m.Actions = []notify.Action{{Label: "暂缓2小时", URL: "https://curfew.lab.example/a/h?x=1&y=2"}}
			first := pit.open(t, how, nil).Send(t.Context(), m)
			if first.Kind != notify.VerdictOK {
				t.Fatalf("verdict %+v", first)
			}
			m.DeliveryID, m.ReplyTo = "8", first.Ref
			if v := pit.open(t, how, nil).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Fatalf("verdict %+v", v)
			}
			var all struct {
				Messages []struct{ ID string } `json:"messages"`
			}
			if pit.get(t, "messages", &all); len(all.Messages) != 2 {
				t.Fatalf("%d messages", len(all.Messages))
			}
			id := all.Messages[0].ID // the newest first
			var got struct {
				MessageID, Subject, Text, HTML string
				From                           struct{ Name, Address string }
				To                             []struct{ Name, Address string }
			}
			pit.get(t, "message/"+id, &got)
			if got.Subject != m.Title || got.From.Address != user || got.From.Name != "curfew" || len(got.To) != 2 || got.To[1].Name != "李" {
				t.Errorf("message %+v", got)
			}
			if !strings.HasPrefix(strings.ReplaceAll(got.Text, "\r\n", "\n"), m.Plain) || !strings.Contains(got.HTML, `<a href="https://curfew.lab.example/a/h?x=1&amp;y=2">暂缓2小时</a>`) {
				t.Errorf("text %q\nhtml %q", got.Text, got.HTML)
			}
			var headers map[string][]string
			pit.get(t, "message/"+id+"/headers", &headers)
			if r := headers["References"]; len(r) != 1 || r[0] != first.Ref {
				t.Errorf("headers %v", headers)
			}
			wrong := func(o *notify.Options) { o.Credential = map[string]string{"password": "wrong"} }
			if v := pit.open(t, how, wrong).Send(t.Context(), m); v.Kind != notify.VerdictPermanent || v.Code != "535" {
				t.Errorf("verdict %+v", v)
			}
			stranger := func(o *notify.Options) { o.Settings["to"] = "who@elsewhere.example" }
			if v := pit.open(t, how, stranger).Send(t.Context(), m); v.Kind != notify.VerdictPermanent {
				t.Errorf("verdict %+v", v)
			} else if code, err := strconv.Atoi(v.Code); err != nil || code < 500 {
				t.Errorf("code %q", v.Code)
			}
		})
	}
}
