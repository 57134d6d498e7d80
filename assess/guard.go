package assess

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
)

// Bug begins what redline says of a panic that it recovered from, with the place and the panic after it.
const Bug = "a bug in redline"

// guarded returns analyzers whose panics are errors, so that a mistake in one rule leaves its causes not judged and takes
// nobody's report. Tests run the analyzers themselves, where a panic fails them.
func guarded(suite []diagnose.Analyzer) []diagnose.Analyzer {
	suite = slices.Clone(suite)
	for i := range suite {
		run := suite[i].Run
		suite[i].Run = func(p *diagnose.Pass) (found []diagnose.Finding, err error) {
			defer func() {
				if r := recover(); r != nil {
					found, err = nil, fmt.Errorf("%s%s: %v", Bug, panicked(), r)
				}
			}()
			return run(p)
		}
	}
	return suite
}

// panicked says at which line a panic began, for a deferred function that recovers it; "" if that is unknown.
func panicked() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // without itself and the deferred function
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf(" (%s:%d)", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
