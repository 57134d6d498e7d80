package main

import (
	"errors"
	"strings"
)

// Exit codes; the contract of design section 9.
const (
	exitOK          = 0
	exitFailed      = 1   // a threshold failed, or a regression
	exitUsage       = 2   // usage or input error
	exitUndecided   = 3   // the measurement is invalid or inconclusive
	exitInterrupted = 130 // Ctrl-C; the bundle is kept
)

// exitError is an error with the exit code it calls for. A nil err was already
// reported.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitOf returns an error's exit code and its message: the whole of it, also where more
// went wrong than the part that has the code.
func exitOf(err error) (code int, text string) {
	code = exitUsage
	var coded *exitError
	if errors.As(err, &coded) {
		code = coded.code
	}
	return code, strings.TrimSpace(err.Error())
}
