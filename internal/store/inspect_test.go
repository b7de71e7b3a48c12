package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"curfew/internal/httpx"
)

func inspectFile(t *testing.T, path string) (Inspection, error) {
	t.Helper()
	return Inspect(t.Context(), "sqlite:"+path, noon)
}

func TestInspectBesideADaemonAndAlone(t *testing.T) {
	d := open(t)
	for _, at := range []time.Duration{-25 * time.Hour, -23 * time.Hour, -time.Hour} {
		if err := d.Counter("lab").Add(t.Context(), httpx.Slot{Length: time.Hour, Start: noon.Add(at), N: 7}); err != nil {
			t.Fatal(err)
		}
	}
	look := func(open bool) {
		t.Helper()
		in, err := inspectFile(t, d.path)
		if err != nil || len(in.Problems) > 0 {
			t.Fatalf("error %v, problems %v", err, in.Problems)
		}
		if in.Version == 0 || in.Version != in.Known {
			t.Errorf("tables of version %d, known %d", in.Version, in.Known)
		}
		if in.Requests["lab"] != 14 {
			t.Errorf("%d requests of the last day, want 14", in.Requests["lab"])
		}
		held, file, err := Held("sqlite:" + d.path)
		if err != nil || held != open || file != d.path+".lock" {
			t.Errorf("held %t by %s, error %v; want %t", held, file, err, open)
		}
	}
	look(true)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	look(false)
	// Neither took anything from whoever comes next.
	next, err := Open(t.Context(), Options{DSN: "sqlite:" + d.path, Now: d.now})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

func TestInspectFindsDamage(t *testing.T) {
	d := open(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"bytes that were turned over": func(b []byte) []byte {
			for n := 4096; n < len(b); n++ {
				b[n] ^= 0xff
			}
			return b
		},
		"half a file":    func(b []byte) []byte { return b[:len(b)/2] },
		"no database":    func([]byte) []byte { return []byte("this is no database, and never was one; it is text") },
		"an empty file":  func([]byte) []byte { return nil },
		"an empty table": func([]byte) []byte { return make([]byte, 8192) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "curfew.db")
			if err := os.WriteFile(path, damage(append([]byte(nil), data...)), 0o600); err != nil {
				t.Fatal(err)
			}
			if in, err := inspectFile(t, path); err == nil && len(in.Problems) == 0 {
				t.Errorf("it seems sound: %+v", in)
			}
		})
	}
}

func TestInspectMakesNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := inspectFile(t, filepath.Join(dir, "curfew.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that it is not there", err)
	}
	if held, _, err := Held("sqlite:" + filepath.Join(dir, "curfew.db")); held || err != nil {
		t.Errorf("held %t, error %v", held, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("made %v (%v)", files, err)
	}
}
