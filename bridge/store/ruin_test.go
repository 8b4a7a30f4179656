package store

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// fingerprint remembers the damaged file, and returns a function that says whether it is among those set aside.
func fingerprint(t *testing.T, path string) func(aside []string) bool {
	damaged, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(aside []string) bool {
		for _, name := range aside {
			if now, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err == nil && os.SameFile(now, damaged) {
				return true
			}
		}
		return false
	}
}

func check(t *testing.T, path string) (result string) {
	t.Helper()
	conn := inside(t, path)
	defer conn.Close()
	stmt, err := conn.Prepare("PRAGMA integrity_check")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Step(); err != nil {
		t.Fatal(err)
	}
	result = stmt.ColumnText(0)
	_ = stmt.Reset()
	return result
}

func truncate(n int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if err := os.Truncate(path, n); err != nil {
			t.Fatal(err)
		}
	}
}

func overwrite(at int64, data []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt(data, at); err != nil {
			t.Fatal(err)
		}
	}
}

func garbage(n int) []byte {
	data := make([]byte, n)
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	return data
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func size(t testing.TB, path string) int64 { return int64(len(read(t, path))) }

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}
