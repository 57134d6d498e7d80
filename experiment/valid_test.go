package experiment

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

var (
	idForm   = regexp.MustCompile(`^[A-E]-[a-z0-9-]+(\.[a-z0-9-]+)?$`)
	nameForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// validate reports what is wrong with a suite: fields that are missing, an ID that comes
// twice, a claim that is not listed, is settled elsewhere as well, or nowhere.
func validate(suite []Experiment, claims []Claim) error {
	var errs []error
	seen := map[string]bool{}
	for _, e := range suite {
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: %s", e.ID, fmt.Sprintf(format, args...)))
		}
		at := slices.IndexFunc(claims, func(c Claim) bool { return c.ID == e.Claim })
		switch {
		case !idForm.MatchString(e.ID) || e.ID != e.Claim && (len(e.ID) <= len(e.Claim)+1 || e.ID[:len(e.Claim)+1] != e.Claim+"."):
			bad("is no ID of claim %q", e.Claim)
		case seen[e.ID]:
			bad("comes twice")
		case at < 0:
			bad("the claim %s is not listed", e.Claim)
		case claims[at].Elsewhere != "":
			bad("the claim is settled by %s", claims[at].Elsewhere)
		}
		seen[e.ID] = true
		if !slices.Contains(folders, e.Folder) {
			bad("folder %q", e.Folder)
		}
		if e.Title == "" || e.Baseline == "" || e.Tuned == "" || e.Expect == "" || e.Same == "" {
			bad("title, baseline, tuned, expect and same are needed")
		}
		if !nameForm.MatchString(e.Benchmark) || !slices.Contains(metrics, e.Metric) {
			bad("benchmark %q with metric %q", e.Benchmark, e.Metric)
		}
		if e.Factor != 0 && !(e.Factor > 1 && e.Factor <= Most) {
			bad("a claimed factor of %v", e.Factor)
		}
	}
	for _, c := range claims {
		if c.Elsewhere == "" && !slices.ContainsFunc(suite, func(e Experiment) bool { return e.Claim == c.ID }) {
			errs = append(errs, fmt.Errorf("%s: no experiment settles the claim, and no verb does", c.ID))
		}
	}
	return errors.Join(errs...)
}

// folders are the packages of lab/ that hold experiments.
var folders = []string{"micro", "serving", "storage"}

// metrics that may decide; less is better of each. What a benchmark reports as p99-ns/op,
// the 99th percentile of its requests, is read as p99-sec/op.
var metrics = []string{
	"sec/op", "p99-sec/op", "B/op", "allocs/op", "B/answer",
	"B/conn", "conns/op", "failed/op", "cycles/op", "assist-sec/op", "cpu-sec/op",
}
