package experiment

import (
	"fmt"
	"slices"
)

// Experiment measures one claim.
type Experiment struct {
	// ID is the claim's, with a word behind it where a claim holds several: "C-fast-clock",
	// "C-fast-clock.random". Claim is the claim's ID.
	ID    string
	Claim string
	// Title is the tuned form against the baseline, in a line.
	Title string
	// Factor is the claimed gain in Metric, how many times better the tuned side is; 0
	// where the claim gives a direction only.
	Factor float64
	// Baseline and Tuned say what the sides do.
	Baseline, Tuned string
	// Folder is the package of lab/ that holds the benchmark: "micro" for what needs one
	// process alone, "serving" for servers on loopback, "storage" for databases.
	Folder string
	// Benchmark is the Go benchmark in Folder, without "Benchmark"; Metric the unit
	// that decides, in which less is better.
	Benchmark, Metric string
	// Expect says what should come out, and why.
	Expect string
	// Safety says where the tuned form does harm, and what the literal form of the claim
	// does where it is not the one measured.
	Safety string
	// Same says how it is made sure that both sides give the same answers.
	Same string
}

// Find returns the experiments of the suite that have one of the IDs, or are of a claim
// that has; all of them for no ID. An ID that names nothing is an *UnknownError.
func Find(suite []Experiment, ids []string) ([]Experiment, error) {
	if len(ids) == 0 {
		return suite, nil
	}
	var chosen []Experiment
	for _, id := range ids {
		found := false
		for _, e := range suite {
			if e.ID != id && e.Claim != id {
				continue
			}
			found = true
			if !slices.ContainsFunc(chosen, func(c Experiment) bool { return c.ID == e.ID }) {
				chosen = append(chosen, e)
			}
		}
		if !found {
			return nil, &UnknownError{ID: id}
		}
	}
	return chosen, nil
}

// UnknownError says that no experiment has an ID.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no experiment %q", e.ID) }
