package main

import (
	"errors"
	"testing"
)

func TestExitOf(t *testing.T) {
	unwritten := errors.New("gate.xml: no space left on device")
	for _, test := range []struct {
		err  error
		code int
		text string
	}{
		{unwritten, exitUsage, unwritten.Error()},
		{&exitError{code: exitFailed}, exitFailed, ""},
		{&exitError{code: exitUndecided, err: errors.New("another machine")}, exitUndecided, "another machine"},
		{errors.Join(&exitError{code: exitUndecided, err: errors.New("another machine")}, unwritten), exitUndecided, "another machine\n" + unwritten.Error()},
		{errors.Join(&exitError{code: exitFailed}, unwritten), exitFailed, unwritten.Error()},
	} {
		if code, text := exitOf(test.err); code != test.code || text != test.text {
			t.Errorf("%v: %d, %q, want %d, %q", test.err, code, text, test.code, test.text)
		}
	}
}
