package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInLoop asks for each line of a file whether it is in a loop; those that are say so.
func TestInLoop(t *testing.T) {
	const source = `package p

func f(items []int) {
	for _, i := range load() {
		ask(i) // in a loop
	}
	ask(0)
	for i := 0; i < 3; i++ { ask(i) } // in a loop
	for {
		go func() {
			ask(1)
			for range 3 {
				ask(2) // in a loop
			}
		}()
		if ask(3) { // in a loop
			return // in a loop
		}
	}
}

func g() { ask(4) }
`
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, text := range strings.Split(source, "\n") {
		if strings.Contains(text, "go func") || strings.Contains(text, "}()") || strings.TrimSpace(text) == "}" {
			continue // where a literal begins and ends
		}
		in, err := InLoop(file, i+1)
		if want := strings.Contains(text, "// in a loop"); err != nil || in != want {
			t.Errorf("line %d, %q: in a loop %v, want %v (%v)", i+1, text, in, want, err)
		}
	}
	if _, err := InLoop(file+"x", 1); err == nil {
		t.Error("a file that is missing was parsed")
	}
}
