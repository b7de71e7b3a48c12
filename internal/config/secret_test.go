package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestASecretPrintsAsSuch(t *testing.T) {
	s := Secret{from: secretEnv, name: "AUTODL_TOKEN"}
	in := struct {
		S Secret
		P *Secret
		M map[string]Secret
	}{s, &s, map[string]Secret{"token": s}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, v := range []any{s, &s, in.M, in} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "AUTODL") {
				t.Errorf("%s prints %s", verb, got)
			}
		}
	}
	for name, marshal := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "YAML": yaml.Marshal} {
		got, err := marshal(in)
		if err != nil {
			t.Fatal(name, err)
		}
		if strings.Contains(string(got), "AUTODL") || strings.Count(string(got), "secret") != 3 {
			t.Errorf("%s gives %s", name, got)
		}
	}
}

func TestReadingASecret(t *testing.T) {
	env := map[string]string{"TOKEN": "abc", "EMPTY": " \n", "HOME": "/home/u", "CREDENTIALS_DIRECTORY": "/run/creds"}
	files := map[string]string{"/etc/t": "def\r\n", "/home/u/t": "ghi\n", "/run/creds/t": "jkl", "/etc/empty": "\n", "/etc/pem": "a\nb\n"}
	lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	read := func(p string) ([]byte, error) {
		v, ok := files[p]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		}
		return []byte(v), nil
	}
	for _, c := range []struct {
		s         Secret
		want, err string
	}{
		{Secret{secretEnv, "TOKEN"}, "abc", ""},
		{Secret{secretEnv, "NONE"}, "", "NONE is not set"},
		{Secret{secretEnv, "EMPTY"}, "", "EMPTY is empty"},
		{Secret{secretFile, "/etc/t"}, "def", ""},
		{Secret{secretFile, "/etc/pem"}, "a\nb", ""},
		{Secret{secretFile, "~/t"}, "ghi", ""},
		{Secret{secretFile, "/etc/none"}, "", "/etc/none"},
		{Secret{secretFile, "/etc/empty"}, "", "/etc/empty is empty"},
		{Secret{secretCredential, "t"}, "jkl", ""},
		{Secret{secretCredential, "none"}, "", "credential none"},
		{Secret{}, "", "no secret is named"},
	} {
		t.Run(c.s.Place(), func(t *testing.T) {
			got, err := c.s.Read(lookup, read)
			switch {
			case c.err == "" && err != nil, got != c.want:
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v does not say %q", err, c.err)
			}
		})
	}
	nothing := func(string) (string, bool) { return "", false }
	for _, s := range []Secret{{secretFile, "~/t"}, {secretCredential, "t"}} {
		if _, err := s.Read(nothing, read); err == nil || !strings.Contains(err.Error(), "is not set") {
			t.Errorf("%s without environment: %v", s.Place(), err)
		}
	}
	if _, err := (Secret{secretFile, "/etc/none"}).Read(lookup, read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}
