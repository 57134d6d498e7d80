package demo

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/service/gateway"
)

// first is the service as a ladder finds it. That of the stack has its index: the report
// begins with a service whose queries are planned well.
func first(name string) ladder.Step {
	if name == ladder.Stack {
		return ladder.Step{Name: "as found", Title: "Gin, GORM and PostgreSQL with their defaults, and the index",
			Remedies: []string{"index"}}
	}
	return ladder.Step{Name: "as found", Title: "the service as it was found"}
}

// stack are the report's steps, in its order. It names no switches of this gateway; these
// are the ones that come nearest.
var stack = []ladder.Step{
	{Name: "pool", Title: "size the pool and keep its connections", Remedies: []string{"pool"}},
	{Name: "prepared", Title: "prepare statements once per connection", Remedies: []string{"prepared"}},
	{Name: "batched", Title: "associations in one query each, rows in one insert each", Remedies: []string{"batched", "write-batch"}},
	{Name: "middleware", Title: "only the middleware that a route needs; log and audit trail off the request's path",
		Remedies: []string{"trimmed", "async-log", "audit-batch"}},
	{Name: "json", Title: "JSON appended to kept buffers, patterns compiled once", Remedies: []string{"append-json", "pooled", "regexp-once"}},
	{Name: "runtime", Title: "no limit of workers, a sharded table, GC target under a memory limit", Remedies: []string{"workers", "sharded", "gc"}},
	{Name: "cache", Title: "orders kept in the process", Remedies: []string{"cache"}},
}

// next returns the step that follows those taken, given the findings of the last run;
// false if there is none. On the ladder "order" the best-ranked finding chooses; the
// stack's steps have their order, and the finding is the one that would have.
func next(name string, found []findings.Finding, remedies []gateway.Remedy, taken []ladder.Step) (ladder.Step, bool) {
	on := map[string]bool{}
	for _, s := range taken {
		for _, r := range s.Remedies {
			on[r] = true
		}
	}
	if name != ladder.Stack {
		c, ok := choose(found, remedies, on)
		return ladder.Step{Name: c.remedy.Name, Title: c.remedy.Title, Remedies: []string{c.remedy.Name}, Finding: c.finding.Cause}, ok
	}
	if len(taken) == 0 || len(taken) > len(stack) {
		return ladder.Step{}, false
	}
	step := stack[len(taken)-1]
	own := slices.DeleteFunc(slices.Clone(remedies), func(r gateway.Remedy) bool { return !slices.Contains(step.Remedies, r.Name) })
	c, _ := choose(found, own, on)
	step.Finding = c.finding.Cause
	return step, true
}

// rest is the step that takes all remedies which are left; false where none is.
func rest(remedies []gateway.Remedy, taken []ladder.Step) (ladder.Step, bool) {
	step := ladder.Step{Name: "the rest", Title: "all remedies that no finding called for"}
	for _, r := range remedies {
		if !slices.ContainsFunc(taken, func(s ladder.Step) bool { return slices.Contains(s.Remedies, r.Name) }) {
			step.Remedies = append(step.Remedies, r.Name)
		}
	}
	return step, len(step.Remedies) > 0
}

// switches returns the gateway's environment with all steps taken. A remedy that the
// gateway does not list is an error.
func switches(remedies []gateway.Remedy, taken []ladder.Step) (map[string]string, error) {
	env := map[string]string{}
	for _, s := range taken {
		for _, name := range s.Remedies {
			i := slices.IndexFunc(remedies, func(r gateway.Remedy) bool { return r.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("the gateway has no remedy %q, which step %q takes", name, s.Name)
			}
			env[remedies[i].Env] = remedies[i].On
		}
	}
	return env, nil
}
