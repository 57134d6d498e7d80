package decide

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
)

// TestRebuiltSide: a binary that was built anew is another side.
func TestRebuiltSide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "svc")
	words := func(content string) string {
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return side{command: path + " -l :8080"}.words(&scenario.Plan{}, revision.Built{})
	}
	one, two := words("one"), words("two")
	if again := words("one"); one == two || one != again || !strings.HasPrefix(one, path+" -l :8080 (sha256 ") {
		t.Errorf("%s, rebuilt %s, and as before %s", one, two, again)
	}
	if got := (side{command: "no-such-command -x"}).words(&scenario.Plan{}, revision.Built{}); got != "no-such-command -x" {
		t.Errorf("a command that is not there: %s", got)
	}
}

// TestUndecided: an inconclusive session fails unless it is tolerated, and an invalid one always.
func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		undecided string
		verdict   verify.Verdict
		code      int
	}{
		{undecidedFails, verify.Inconclusive, cli.ExitUndecided},
		{undecidedPasses, verify.Inconclusive, cli.ExitOK},
		{undecidedPasses, verify.Invalid, cli.ExitUndecided},
		{undecidedPasses, verify.Regression, cli.ExitFailed},
	} {
		f := compareFlags{undecided: c.undecided}
		r := verify.Result{Verdict: c.verdict}
		r.Tolerated = f.tolerates(r)
		if code := exitCode(f.print(io.Discard, io.Discard, r, "s.yaml")); code != c.code {
			t.Errorf("%+v: exit code %d", c, code)
		}
	}
	cmd := GateCommand()
	cmd.SetArgs([]string{"--base", "HEAD", "--on-inconclusive", "ignore", "s.yaml"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "pass-with-warning") {
		t.Errorf("got %v", err)
	}
}

func exitCode(err error) int {
	if err == nil {
		return cli.ExitOK
	}
	code, _ := cli.ExitOf(err)
	return code
}
