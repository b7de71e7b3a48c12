package email_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"strings"
)

// parse reads a message and says what a mail program would miss in it.
func parse(raw string) (received, error) {
	got := received{raw: raw}
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return got, err
	}
	got.header = m.Header
	var errs []error
	for name, want := range map[string]string{
		"Message-Id": `^<curfew-[0-9a-f]{24}@example\.com>$`, "Date": `^\w{3}, \d`, "Mime-Version": `^1\.0$`,
		"From": `<curfew@example\.com>$`, "To": "@", "Subject": ".", "Precedence": "^bulk$",
		"X-Auto-Response-Suppress": "^All$", "Auto-Submitted": "^auto-generated$",
	} {
		if all := m.Header[name]; len(all) != 1 || !regexp.MustCompile(want).MatchString(all[0]) {
			errs = append(errs, fmt.Errorf("header %s is %q", name, all))
		}
	}
	for _, name := range []string{"User-Agent", "X-Mailer", "Bcc"} {
		if m.Header.Get(name) != "" {
			errs = append(errs, fmt.Errorf("header %s is there", name))
		}
	}
	got.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	errs = append(errs, err)
	got.plain, got.html, err = parts(m)
	return got, errors.Join(append(errs, err)...)
}

// parts gives the text parts of a message.
func parts(m *mail.Message) (plain, html string, err error) {
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return "", "", err
	}
	if kind == "text/plain" {
		plain, err = part(m.Header.Get("Content-Transfer-Encoding"), params["charset"], m.Body)
		return plain, "", err
	}
	if kind != "multipart/alternative" {
		return "", "", fmt.Errorf("content type %s", kind)
	}
	var all []string
	for in := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := in.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", "", err
		}
		kind, params, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if want := []string{"text/plain", "text/html"}[min(len(all), 1)]; kind != want {
			return "", "", fmt.Errorf("part %d is %s, want %s", len(all), kind, want)
		}
		text, err := part(p.Header.Get("Content-Transfer-Encoding"), params["charset"], p)
		if err != nil {
			return "", "", err
		}
		all = append(all, text)
	}
	if len(all) != 2 {
		return "", "", fmt.Errorf("%d parts", len(all))
	}
	return all[0], all[1], nil
}

func part(encoding, charset string, body io.Reader) (string, error) {
	if !strings.EqualFold(encoding, "quoted-printable") || !strings.EqualFold(charset, "utf-8") {
		return "", fmt.Errorf("encoding %q, charset %q", encoding, charset)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(body))
	if bytes.Contains(bytes.ReplaceAll(text, []byte("\r\n"), nil), []byte("\n")) {
		return "", errors.New("a line does not end with CRLF")
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}
