package stacks

import (
	"errors"

	"github.com/redline-go/redline/record"
)

// Functions returns the shares of the service's CPU by function over the
// steady span, each function's own and that of its callees (once per stack,
// however often it recurs), 0 to 1. Both are empty when no CPU profile was taken; the error
// says that one cannot be read.
func Functions(rec *record.Record) (self, total map[string]float64, samples int64, err error) {
	self, total = map[string]float64{}, map[string]float64{}
	prof, err := CPU(rec)
	switch {
	case errors.Is(err, ErrNone):
		return self, total, 0, nil
	case err != nil || prof.Total <= 0:
		return self, total, 0, err
	}
	for _, s := range prof.Samples {
		share := float64(s.Value) / float64(prof.Total)
		seen := map[string]bool{}
		for i, f := range s.Stack {
			if i == 0 {
				self[f.Function] += share
			}
			if !seen[f.Function] {
				seen[f.Function] = true
				total[f.Function] += share
			}
		}
	}
	return self, total, prof.Count, nil
}

// CPU returns the CPU profile of a run's steady span, all its parts merged; the error
// is ErrNone or says which does not parse.
func CPU(rec *record.Record) (*Profile, error) { return Read(rec, "cpu", "cpu", nil) }
