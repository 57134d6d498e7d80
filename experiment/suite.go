package experiment

import (
	"slices"
	"strings"
)

// Suite returns the experiments that are built, in the order of their claims.
func Suite() []Experiment {
	all := slices.Concat(inProcess, serving, storage)
	at := func(e Experiment) int {
		return slices.IndexFunc(claims, func(c Claim) bool { return c.ID == e.Claim })
	}
	slices.SortStableFunc(all, func(a, b Experiment) int { return at(a) - at(b) })
	return all
}

// in completes the experiments whose benchmarks are in a folder of lab/. Each is of the claim
// that its ID begins with.
func in(folder string, all []Experiment) []Experiment {
	for i := range all {
		all[i].Folder = folder
		all[i].Claim, _, _ = strings.Cut(all[i].ID, ".")
	}
	return all
}
