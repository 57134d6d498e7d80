package cli

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
		{unwritten, ExitUsage, unwritten.Error()},
		{Exit(ExitFailed, nil), ExitFailed, ""},
		{Exit(ExitUndecided, errors.New("another machine")), ExitUndecided, "another machine"},
		{errors.Join(Exit(ExitUndecided, errors.New("another machine")), unwritten), ExitUndecided, "another machine\n" + unwritten.Error()},
		{errors.Join(Exit(ExitFailed, nil), unwritten), ExitFailed, unwritten.Error()},
	} {
		if code, text := ExitOf(test.err); code != test.code || text != test.text {
			t.Errorf("%v: %d, %q, want %d, %q", test.err, code, text, test.code, test.text)
		}
	}
}
