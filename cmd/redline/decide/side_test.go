package decide

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
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
