package experiment

import "slices"

// Suite returns the experiments that are built, in the order of their claims.
func Suite() []Experiment {
	all := slices.Concat(inProcess, serving, storage)
	at := func(e Experiment) int {
		return slices.IndexFunc(claims, func(c Claim) bool { return c.ID == e.Claim })
	}
	slices.SortStableFunc(all, func(a, b Experiment) int { return at(a) - at(b) })
	return all
}
