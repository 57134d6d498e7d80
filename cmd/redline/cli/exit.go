// Package cli is what the verbs of the command line share: exit codes, the terminal,
// progress, where results are kept.
package cli

import (
	"errors"
	"strings"
)

// Exit codes: a contract with scripts, listed by redline --help.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a threshold failed, or a regression
	ExitUsage       = 2   // usage or input error
	ExitUndecided   = 3   // the measurement is invalid or inconclusive
	ExitInterrupted = 130 // Ctrl-C; the bundle is kept
)

// ExitError is an error with the exit code it calls for. A nil err was already
// reported.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an error with an exit code; err may be nil, if it was already reported.
func Exit(code int, err error) error { return &ExitError{code, err} }

// ExitOf returns an error's exit code and its full message, which may report more than
// the error that has the code.
func ExitOf(err error) (code int, text string) {
	code = ExitUsage
	var coded *ExitError
	if errors.As(err, &coded) {
		code = coded.Code
	}
	return code, strings.TrimSpace(err.Error())
}
