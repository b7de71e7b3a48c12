package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Secret says where a secret is to be found. It never holds it, and prints as
// <secret> in every form. The zero value is no secret.
type Secret struct {
	from secretSource
	name string
}

type secretSource string

const (
	secretEnv        secretSource = "env"
	secretFile       secretSource = "file"
	secretCredential secretSource = "credential"
)

const hidden = "<secret>"

// IsZero reports whether no secret is named.
func (s Secret) IsZero() bool { return s == Secret{} }

// Place says in words where the secret is kept, such as "env AUTODL_TOKEN".
func (s Secret) Place() string { return string(s.from) + " " + s.name }

// String gives <secret>.
func (s Secret) String() string { return hidden }

// GoString gives <secret>.
func (s Secret) GoString() string { return hidden }

// Format gives <secret> for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, hidden) }

// MarshalText gives <secret>, for JSON, YAML and whatever else asks for text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Read fetches the secret from the environment, or from a file by readFile; a
// path may begin with ~/. Its error says where it was looked for.
func (s Secret) Read(lookupEnv func(string) (string, bool), readFile func(string) ([]byte, error)) (string, error) {
	switch s.from {
	case secretEnv:
		v, ok := lookupEnv(s.name)
		if !ok {
			return "", fmt.Errorf("environment variable %s is not set; set it for the daemon", s.name)
		}
		return notEmpty(v, "environment variable "+s.name)
	case secretFile:
		path := s.name
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			home, _ := lookupEnv("HOME")
			if home == "" {
				return "", fmt.Errorf("secret file %s: HOME is not set; write the whole path", s.name)
			}
			path = filepath.Join(home, rest)
		}
		return readSecret(readFile, path, "secret file "+s.name)
	case secretCredential:
		dir, _ := lookupEnv("CREDENTIALS_DIRECTORY")
		if dir == "" {
			return "", fmt.Errorf("credential %s: CREDENTIALS_DIRECTORY is not set; add LoadCredential=%s:PATH to the systemd unit", s.name, s.name)
		}
		return readSecret(readFile, filepath.Join(dir, s.name), "credential "+s.name)
	}
	return "", errors.New("no secret is named")
}

func readSecret(readFile func(string) ([]byte, error), path, what string) (string, error) {
	data, err := readFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return notEmpty(string(data), what)
}

// notEmpty drops the line end that editors and echo leave behind.
func notEmpty(v, what string) (string, error) {
	v = strings.TrimRight(v, "\r\n")
	if strings.TrimSpace(v) == "" {
		return "", fmt.Errorf("%s is empty", what)
	}
	return v, nil
}

// secret reads where a secret is kept. A secret written into the file itself is
// refused, and not repeated.
func (n node) secret() Secret {
	n = n.as(form{kind: kindSecret})
	if !n.given() {
		return Secret{}
	}
	const right = "write {env: NAME}, {file: PATH} or {credential: NAME}"
	if _, inline := n.source(); inline {
		n.bad("holds a secret in the file itself", right)
		return Secret{}
	}
	m := n.mapping()
	if !m.given() {
		return Secret{}
	}
	var found []Secret
	for _, from := range []secretSource{secretEnv, secretFile, secretCredential} {
		v := m.take(string(from))
		if _, ok := m.pairs[string(from)]; !ok {
			continue
		}
		name, _ := v.scalar() // not text: a number would be repeated, and may be the secret
		s := Secret{from: from, name: name}
		switch {
		case s.name == "":
			s = Secret{}
		case from == secretEnv && !isEnvName(s.name):
			v.bad("is not the name of an environment variable", "write its name, such as AUTODL_TOKEN, not the secret")
		case from == secretCredential && strings.ContainsAny(s.name, "/\x00"):
			v.bad("is not the name of a credential", "write the name given to LoadCredential= in the systemd unit")
		case from == secretFile && !strings.HasPrefix(s.name, "~/"):
			s.name = n.r.beside(s.name)
		}
		found = append(found, s)
	}
	unknown := len(m.keys) > len(found)
	m.done()
	if len(found) != 1 {
		if !unknown {
			n.bad("must say one place where the secret is kept", right)
		}
		return Secret{}
	}
	return found[0]
}

func isEnvName(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}
