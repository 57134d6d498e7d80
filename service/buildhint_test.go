package service

import (
	"strings"
	"testing"
)

// TestHintOfAFullDisk: which disk is full, and of what, is not clear from the linker's words.
func TestHintOfAFullDisk(t *testing.T) {
	for output, want := range map[string]string{
		"# net/http\nwrite $WORK/b012/_pkg_.a: no space left on device":                    "go clean -cache",
		"/usr/lib/go/pkg/tool/link: mapping output file failed: no space left on device\n": "go clean -cache",
		"# shop\n./main.go:3:1: syntax error":                                              "",
	} {
		if got := hintFor(output); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q gets the hint %q, want %q", output, got, want)
		}
	}
}
