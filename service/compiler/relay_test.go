package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/compiler"
)

// TestRelays: the lines marked "given" pass on what their function was given, those marked "own" do not. The
// source is only parsed.
func TestRelays(t *testing.T) {
	for name, least := range map[string]int{"store.go": 33, "client.go": 11} {
		t.Run(name, func(t *testing.T) { relays(t, filepath.Join("testdata", "relays", name), least) })
	}
}

func relays(t *testing.T, file string, least int) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i, line := range strings.Split(string(content), "\n") {
		_, mark, ok := strings.Cut(line, "// ")
		sends := compiler.SendsText
		for prefix, kind := range map[string]compiler.Sends{"mapped: ": compiler.SendsMapped, "request: ": compiler.SendsRequest} {
			if rest, is := strings.CutPrefix(mark, prefix); is {
				mark, sends = rest, kind
			}
		}
		if !ok || !strings.HasPrefix(mark, "given") && !strings.HasPrefix(mark, "own") {
			continue
		}
		seen++
		got, err := compiler.Relays(file, i+1, sends)
		if err != nil || got != strings.HasPrefix(mark, "given") {
			t.Errorf("line %d, %s: relays %v, %v", i+1, strings.TrimSpace(line), got, err)
		}
	}
	if seen < least {
		t.Errorf("%d lines are marked, want at least %d", seen, least)
	}
	if got, err := compiler.Relays(file, 1, compiler.SendsText); got || err != nil {
		t.Errorf("a line outside of functions: %v, %v", got, err)
	}
	if _, err := compiler.Relays(file+"x", 1, compiler.SendsText); err == nil {
		t.Error("a missing file is no error")
	}
}
