package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/verify/session"
)

// TestOneSessionAtATime begins a session in the directory of another command's session.
func TestOneSessionAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "session")
	log, err := session.Create(dir, session.Header{Plan: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out, said bytes.Buffer
	code := execute(t.Context(), []string{"ab", "--a", "true", "--b", "false", "http://127.0.0.1:1/", "-o", dir}, &out, &said)
	// A new session is refused before it tries the lock, whoever holds that; that the lock
	// refuses a resumed one is for package verify to test.
	if code != cli.ExitUsage || !strings.Contains(said.String(), "holds a session already") {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
