package settle

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/experiment"
)

// TestInterruptNamesWhatFailed: Ctrl-C exits 130, and the text names each experiment that
// failed before it.
func TestInterruptNamesWhatFailed(t *testing.T) {
	failed := experiment.FailedError{errors.New("A-wire: another body"), errors.New("D-router: no route")}
	code, text := cli.ExitOf(interrupted(errors.Join(context.Canceled, failed)))
	if code != cli.ExitInterrupted || !strings.Contains(text, "--resume continues") ||
		!strings.Contains(text, "A-wire: another body") || !strings.Contains(text, "D-router: no route") {
		t.Errorf("exit %d: %s", code, text)
	}
	if _, text := cli.ExitOf(interrupted(context.Canceled)); strings.Contains(text, "failed") {
		t.Error(text)
	}
}
