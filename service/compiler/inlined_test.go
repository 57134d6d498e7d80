package compiler

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadInlined(t *testing.T) {
	calls, err := readInlined(strings.NewReader(`# example.com/svc
./main.go:5:6: can inline add
./main.go:7:26: inlining call to add
../store/store.go:70:13: inlining call to (*Store).Order
/usr/lib/go/src/fmt/print.go:12:9: inlining call to sync.(*Pool).Get
./main.go:9:2: moved to heap: x
`), "/home/me/svc")
	want := []Call{
		{"/home/me/svc/main.go", 7, "add"}, {"/home/me/store/store.go", 70, "(*Store).Order"},
		{"/usr/lib/go/src/fmt/print.go", 12, "sync.(*Pool).Get"},
	}
	if err != nil || !slices.Equal(calls, want) {
		t.Errorf("%v, %v", calls, err)
	}
}

func TestInlined(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/svc\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc add(a, b int) int { return a + b }\n\nfunc main() { println(add(1, 2)) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := Inlined(t.Context(), dir, []string{"-pgo=off"}, "example.com/svc")
	if want := (Call{filepath.Join(dir, "main.go"), 5, "add"}); err != nil || !slices.Contains(calls, want) {
		t.Errorf("%v, %v; want %v", calls, err, want)
	}
	if _, err := Inlined(t.Context(), dir, []string{"-pgo=none.pgo"}, "example.com/svc"); err == nil {
		t.Error("a profile that is not there is taken")
	}
}
