//go:build unix

package pseudofile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]struct {
		n    uint64
		rest string
		ok   bool
	}{
		" \t42 kB": {42, " kB", true}, "18446744073709551615": {1<<64 - 1, "", true},
		"18446744073709551616": {}, "-1": {0, "-1", false}, "": {}, "max 5": {0, "max 5", false},
	} {
		if n, rest, ok := Number([]byte(text)); ok != want.ok || ok && (n != want.n || string(rest) != want.rest) {
			t.Errorf("Number(%q) = %d, %q, %v", text, n, rest, ok)
		}
	}
}

func TestKeyed(t *testing.T) {
	text := []byte("oom_kill_disable 1\nunder_oom 0\noom_kill 3\nread_bytes: 4096\nThreads:\t9\nbroken x\n")
	for key, want := range map[string]uint64{"oom_kill": 3, "read_bytes": 4096, "Threads": 9, "under_oom": 0} {
		if n, ok := Keyed(text, key); n != want || !ok {
			t.Errorf("Keyed(%s) = %d, %v", key, n, ok)
		}
	}
	for _, key := range []string{"oom", "broken", "absent"} {
		if n, ok := Keyed(text, key); ok {
			t.Errorf("Keyed(%s) = %d", key, n)
		}
	}
}

func TestReader(t *testing.T) {
	var r Reader
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 8 << 10, 100 << 10} { // its buffer grows
		want := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Read(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of %d, %v", len(got), size, err)
		}
	}
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *fs.PathError
	if _, err := r.Read(path); !errors.As(err, &failed) {
		t.Errorf("a file without end: %v", err)
	}
	if _, err := r.Read(path + "-absent"); !Gone(err) {
		t.Errorf("an absent file: %v", err)
	}
}

func TestNumbered(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"7", "42", "self", "0", "-3", "9x"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := Numbered(dir)
	slices.Sort(ids)
	if err != nil || !slices.Equal(ids, []int{7, 42}) {
		t.Errorf("%v, %v", ids, err)
	}
}

// FuzzNumber compares the parser with the standard library's.
func FuzzNumber(f *testing.F) {
	f.Add([]byte(" 42 kB"))
	f.Add([]byte("key 7\nkey: 8"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, rest, ok := Number(text)
		if ok {
			digits := bytes.TrimLeft(text[:len(text)-len(rest)], " \t")
			if want, err := strconv.ParseUint(string(digits), 10, 64); err != nil || n != want {
				t.Errorf("Number(%q) = %d; %q is %d, %v", text, n, digits, want, err)
			}
		}
		if _, found := Keyed(text, "key"); found && !bytes.Contains(text, []byte("key")) {
			t.Errorf("a key in %q", text)
		}
	})
}
