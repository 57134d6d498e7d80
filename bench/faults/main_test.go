package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestArgumentsAreRefused: a part named without -only must not run all of them.
func TestArgumentsAreRefused(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-trials", "1", "-redline", filepath.Join(dir, "none"), "-o", filepath.Join(dir, "out.json"), "kills"}
	err := command(t.Context(), args, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"kills"`) {
		t.Errorf("%v", err)
	}
}
