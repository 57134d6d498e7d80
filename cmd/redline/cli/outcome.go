package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
)

// Outcome turns an assessed run into the exit code.
func Outcome(s *record.Summary, runErr error) error {
	switch {
	case errors.Is(runErr, context.Canceled):
		return Exit(ExitInterrupted, fmt.Errorf("interrupted; the measurements so far are kept in %s", s.Run))
	case unwritten(runErr, s.Run) != nil:
		return Exit(ExitUndecided, unwritten(runErr, s.Run))
	case runErr != nil:
		return Exit(ExitUndecided, runErr)
	case s.Load.Requests == 0:
		return Exit(ExitUndecided, errors.New("no request finished in the measured span, so there are no figures (see the "+
			"warnings above)"))
	case s.Load.Errors == s.Load.Requests:
		return Exit(ExitUndecided, errors.New("every request failed, so the figures do not describe a working service (see "+
			"the kinds of error above)"))
	case s.Generator.Verdict() == record.ValidityUnknown:
		return Exit(ExitUndecided, errors.New("the run was killed before the generator checked its figures: its validity is "+
			"unknown"))
	case s.Generator.Verdict() == record.ValidityInvalid:
		return Exit(ExitUndecided, errors.New("the measurement is invalid: "+strings.Join(s.Generator.WhyInvalid, "; ")))
	}
	for _, t := range s.Thresholds {
		if !t.OK {
			return Exit(ExitFailed, fmt.Errorf("threshold failed: %s", t.Expr))
		}
	}
	return nil
}

// UsageOrInterrupt is the exit of a run that left no bundle. A build or a start that
// Ctrl-C cut short fails with an error of its own, which would only distract.
func UsageOrInterrupt(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Exit(ExitInterrupted, errors.New("interrupted before anything was measured"))
	}
	return Exit(ExitUsage, err)
}

// BundleIn reports whether dir holds a bundle, finished or not.
func BundleIn(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, disk.RunFile))
	return err == nil
}

// InterruptedOr turns an error into the exit of an interrupted command if it is
// one.
func InterruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Exit(ExitInterrupted, errors.New("interrupted"))
	}
	return err
}
