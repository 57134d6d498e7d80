package ladder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/gateway"
)

// Names of the ladders.
const (
	Order = "order"
	Stack = "stack"
)

// Step is a change of the service.
type Step struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Remedies are the gateway's switches that it turns, by name.
	Remedies []string `json:"remedies"`
	// Finding is the cause that called for it in the run before; "" where none did.
	Finding string `json:"finding,omitempty"`
}

// CalledFor words which finding called for a step.
func (s Step) CalledFor() string {
	switch {
	case s.Finding != "":
		return s.Finding
	case len(s.Remedies) == 0:
		return ""
	}
	return "no finding calls for it"
}

// First is the service as a ladder finds it. That of the stack has its index: the report
// begins with a service whose queries are planned well.
func First(name string) Step {
	if name == Stack {
		return Step{Name: "as found", Title: "Gin, GORM and PostgreSQL with their defaults, and the index", Remedies: []string{"index"}}
	}
	return Step{Name: "as found", Title: "the service as it was found"}
}

// stack are the report's steps, in its order. It names no switches of this gateway; these
// are the ones that come nearest.
var stack = []Step{
	{Name: "pool", Title: "size the pool and keep its connections", Remedies: []string{"pool"}},
	{Name: "prepared", Title: "prepare statements once per connection", Remedies: []string{"prepared"}},
	{Name: "batched", Title: "associations in one query each, rows in one insert each", Remedies: []string{"batched", "write-batch"}},
	{Name: "middleware", Title: "only the middleware that a route needs; log and audit trail off the request's path",
		Remedies: []string{"trimmed", "async-log", "audit-batch"}},
	{Name: "json", Title: "JSON appended to kept buffers, patterns compiled once", Remedies: []string{"append-json", "pooled", "regexp-once"}},
	{Name: "runtime", Title: "no limit of workers, a sharded table, GC target under a memory limit", Remedies: []string{"workers", "sharded", "gc"}},
	{Name: "cache", Title: "orders kept in the process", Remedies: []string{"cache"}},
}

// Next returns the step that follows those taken, given the findings of the last run;
// false where there is none. On the ladder "order" the best-ranked finding chooses; the
// stack's steps have their order, and the finding is the one that would have.
func Next(name string, findings []record.Finding, remedies []gateway.Remedy, taken []Step) (Step, bool) {
	on := map[string]bool{}
	for _, s := range taken {
		for _, r := range s.Remedies {
			on[r] = true
		}
	}
	if name != Stack {
		r, f, ok := Choose(findings, remedies, on)
		return Step{Name: r.Name, Title: r.Title, Remedies: []string{r.Name}, Finding: f.Cause}, ok
	}
	if len(taken) == 0 || len(taken) > len(stack) {
		return Step{}, false
	}
	step := stack[len(taken)-1]
	own := slices.DeleteFunc(slices.Clone(remedies), func(r gateway.Remedy) bool { return !slices.Contains(step.Remedies, r.Name) })
	_, f, _ := Choose(findings, own, on)
	step.Finding = f.Cause
	return step, true
}

// Choose returns the remedy that the best-ranked finding calls for, among those not taken
// yet, and the finding; false where no finding calls for any of them.
func Choose(findings []record.Finding, remedies []gateway.Remedy, taken map[string]bool) (gateway.Remedy, record.Finding, bool) {
	for _, last := range []bool{false, true} {
		for _, f := range findings {
			for _, r := range remedies {
				if r.Last == last && !taken[r.Name] && cures(r, f) {
					return r, f, true
				}
			}
		}
	}
	return gateway.Remedy{}, record.Finding{}, false
}

func cures(r gateway.Remedy, f record.Finding) bool {
	return slices.Contains(r.Cures, f.Cause) && matches(r, f)
}

func matches(r gateway.Remedy, f record.Finding) bool {
	if len(r.Match) == 0 {
		return true
	}
	path := strings.ToLower(strings.Join([]string{
		f.Where.Function, f.Where.File, f.Where.SQL, f.Where.Detail, f.Title,
	}, "\n"))
	return slices.ContainsFunc(r.Match, func(m string) bool { return strings.Contains(path, strings.ToLower(m)) })
}

// Switches returns the gateway's environment with all steps taken. A remedy that the
// gateway does not list is an error.
func Switches(remedies []gateway.Remedy, taken []Step) (map[string]string, error) {
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
