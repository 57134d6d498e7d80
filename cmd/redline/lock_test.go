package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
)

// TestOneSessionAtATime begins a session where another command is at one.
func TestOneSessionAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "session")
	log, err := verify.Create(dir, verify.Header{Plan: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out, said bytes.Buffer
	code := execute(t.Context(), []string{"ab", "--a", "true", "--b", "false", "http://127.0.0.1:1/", "-o", dir}, &out, &said)
	if code != exitUsage || !strings.Contains(said.String(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
