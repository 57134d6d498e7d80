package diagnose

import (
	"errors"
	"fmt"
	"slices"
)

// Validate checks a suite: names and causes are unique, everything is
// documented, needs are known, After names members and has no cycle, and
// FollowsFrom names causes of the suite. It returns all that is wrong, joined.
func Validate(suite []Analyzer) error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf("suite: "+format, args...)) }
	names, causes := map[string]bool{}, map[string]string{}
	for _, a := range suite {
		switch {
		case a.Name == "":
			bad("an analyzer has no name")
		case names[a.Name]:
			bad("two analyzers are called %s", a.Name)
		}
		names[a.Name] = true
		if a.Doc == "" || a.Run == nil || len(a.Causes) == 0 {
			bad("%s lacks documentation, a cause or a function", a.Name)
		}
		for _, c := range a.Causes {
			if c.ID == "" || c.Title == "" || c.Doc == "" || c.Remedy == "" {
				bad("%s: cause %q is not fully documented", a.Name, c.ID)
			}
			if other, taken := causes[c.ID]; taken {
				bad("%s and %s both name the cause %s", other, a.Name, c.ID)
			}
			causes[c.ID] = a.Name
		}
		for _, n := range a.Needs {
			if how(n) == "" {
				bad("%s needs %q, which is not a kind of data", a.Name, n)
			}
		}
	}
	for _, a := range suite {
		for _, after := range a.After {
			if !names[after] {
				bad("%s runs after %s, which is not in the suite", a.Name, after)
			}
		}
		for _, c := range a.Causes {
			for _, root := range slices.Concat(c.FollowsFrom, c.CoveredBy) {
				if causes[root] == "" {
					bad("%s follows from %s, which nothing names", c.ID, root)
				}
			}
		}
	}
	if len(wrong) == 0 {
		if _, err := order(suite); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// order sorts a suite so that every analyzer comes after those it reads, and
// otherwise keeps the given order.
func order(suite []Analyzer) ([]Analyzer, error) {
	sorted := make([]Analyzer, 0, len(suite))
	done := map[string]bool{}
	all := func(a Analyzer) bool { return a.Last || done[a.Name] }
	ready := func(a Analyzer) bool {
		if a.Last && slices.ContainsFunc(suite, func(other Analyzer) bool { return !all(other) }) {
			return false
		}
		return !slices.ContainsFunc(a.After, func(name string) bool { return !done[name] })
	}
	for len(sorted) < len(suite) {
		before := len(sorted)
		for _, a := range suite {
			if !done[a.Name] && ready(a) {
				sorted, done[a.Name] = append(sorted, a), true
			}
		}
		if len(sorted) == before {
			return nil, errors.New("suite: the analyzers' After lists form a cycle")
		}
	}
	return sorted, nil
}

// Lookup returns the cause with an id and whether the suite names it.
func Lookup(suite []Analyzer, id string) (Cause, bool) {
	for _, a := range suite {
		for _, c := range a.Causes {
			if c.ID == id {
				return c, true
			}
		}
	}
	return Cause{}, false
}
