package observetest

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Begin starts a command that prints a line once it is ready and ends at the end of its standard input, and
// returns that line. end closes the input and waits; the end of the test does so at the latest.
func Begin(t *testing.T, cmd *exec.Cmd) (line string, end func()) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		stdin.Close()
		_ = cmd.Wait() // how it ends is its own business
	})
	t.Cleanup(end)
	line, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s did not begin: %v", cmd.Path, err)
	}
	return strings.TrimSpace(line), end
}
