package diagnose

import "github.com/redline-go/redline/record"

// FunctionCosts returns the shares of the service's CPU by function over the
// steady span, each function's own and that of what it calls (once per stack,
// however often it recurs), 0 to 1. Both are empty when no CPU profile was taken.
func FunctionCosts(rec *record.Record) (self, total map[string]float64, samples int64) {
	self, total = map[string]float64{}, map[string]float64{}
	prof, err := newPass(rec, nil).Profile("cpu", "cpu")
	if err != nil || prof.Total <= 0 {
		return self, total, 0
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
	return self, total, prof.Count
}

// CPUProfile returns the CPU profile of a run's steady span, all its parts
// together; an error says that there is none or that it does not parse.
func CPUProfile(rec *record.Record) (*Profile, error) { return newPass(rec, nil).Profile("cpu", "cpu") }
