package session

import (
	"errors"
	"testing"

	"github.com/redline-go/redline/record"
)

// TestOnlyTheGeneratorsFaultIsRepeated: a pair that the generator spoilt is measured again,
// with both sides' blocks; one that a side spoilt is not, however that is worded.
func TestOnlyTheGeneratorsFaultIsRepeated(t *testing.T) {
	load := record.LoadSummary{Requests: 10}
	spoilt := unusable(record.Summary{Load: load, Generator: record.Generator{WhyInvalid: []string{"lag"}}})
	fine := unusable(record.Summary{Load: load, Generator: record.Generator{Valid: true}})
	if fine != nil || spoilt == nil || spoilt.Error() != "the generator could not keep up: lag" {
		t.Fatalf("a block that counts: %v, one that the generator spoilt: %v", fine, spoilt)
	}
	// A host that stood still for a block answers nothing, and the generator was late.
	var again *spoiltError
	if still := unusable(record.Summary{Generator: record.Generator{WhyInvalid: []string{"lag"}}}); !errors.As(still, &again) {
		t.Errorf("a block of a host that stood still: %v", still)
	}
	if nothing := unusable(record.Summary{Generator: record.Generator{Valid: true}}); nothing == nil || errors.As(nothing, &again) {
		t.Errorf("a block of a scenario that loads nothing: %v", nothing)
	}
	quoted := unusable(record.Summary{Load: load, Generator: record.Generator{Unanswered: spoilt.Error(),
		WhyInvalid: []string{spoilt.Error()}}})
	failed := unusable(record.Summary{Load: record.LoadSummary{Requests: 10, Errors: 10}})
	for name, c := range map[string]struct {
		void, err error
		times     int
	}{
		"it counts":                    {fine, nil, 1},
		"the generator was late":       {spoilt, nil, attempts},
		"late for the second side":     {errors.Join(failed, spoilt), nil, attempts},
		"every request failed":         {failed, nil, 1},
		"a reason that reads alike":    {quoted, nil, 1},
		"a side could not be launched": {spoilt, errors.New("it ended"), 1},
	} {
		l, times := &Launcher{}, 0
		err := l.repeat(func() (void, err error) { times++; return c.void, c.err })
		if times != c.times || l.Repeated != c.times-1 || !errors.Is(err, c.err) {
			t.Errorf("%s: measured %d times, want %d, %d counted, %v", name, times, c.times, l.Repeated, err)
		}
	}
}
