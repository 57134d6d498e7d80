package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		text, want, why string
		whole           int64
	}{
		"none":            {"", "", "", 0},
		"whole":           {"a\nbc\n", "a|bc", "", 5},
		"cut short":       {"a\nbc", "a", "", 2},
		"longer than any": {"a\n" + strings.Repeat("x", 20) + "\n", "a", ":2: a line of more than 16 bytes", 2},
		"too many":        {"a\nb\nc\nd\n", "a|b|c", ":4: more than 3 lines", 6},
		"damaged":         {"a\nbad\nc\n", "a", ":2: bad", 2},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		whole, err := ReadLines(path, Bounds{Lines: 3, Longest: 16}, func(line []byte) error {
			if string(line) == "bad\n" {
				return bad
			}
			got = append(got, strings.TrimSuffix(string(line), "\n"))
			return nil
		})
		if whole != c.whole || strings.Join(got, "|") != c.want || (err == nil) != (c.why == "") ||
			err != nil && !strings.Contains(err.Error(), path+c.why) || name == "damaged" && !errors.Is(err, bad) {
			t.Errorf("%s: %q, %d bytes, %v", name, got, whole, err)
		}
	}
}

// TestContinuedLines: what a kill cut short is written over, and nothing else.
func TestContinuedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if whole, err := ReadLines(path, Bounds{Lines: 3, Longest: 16}, nil); whole != 0 || err != nil {
		t.Errorf("of no file: %d, %v", whole, err)
	}
	for _, step := range []struct {
		whole        int64
		append, want string
	}{{0, "one\nthr", "one\nthr"}, {4, "2\n", "one\n2\n"}} {
		f, err := ContinueLines(path, step.whole)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(step.append); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("%q, %v, want %q", got, err, step.want)
		}
	}
}
