package server

import (
	"slices"
	"testing"
)

// TestOpeningIsPatient: the timeout of the run is the last that the server is given, and before
// the run a longer one.
func TestOpeningIsPatient(t *testing.T) {
	last := func(s *Session) (timeout any) {
		args := s.local().Args
		for i, a := range args {
			if a == "statement_timeout" {
				timeout = args[i+1]
			}
		}
		return timeout
	}
	if got := last(&Session{}); got != "1s" {
		t.Errorf("a reading of the run ends after %v", got)
	}
	opening := &Session{opening: true}
	if got := last(opening); got != openingTimeout {
		t.Errorf("before the run a reading ends after %v", got)
	}
	if args := opening.local().Args; !slices.Contains(args, any("lock_timeout")) {
		t.Errorf("settings of the run are missing: %v", args)
	}
}
