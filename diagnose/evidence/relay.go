package evidence

import (
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// askedFrom returns the place that calls for a statement: outside a library's hook. A hook that retries or
// logs runs whatever the library was called for, and the user's function further out called for it; one with
// a statement of its own is its own caller. Shared are the lines with more than one statement.
func (p *Set) askedFrom(stack []code.Frame, shared map[site]bool) (place code.Frame, ok bool) {
	place, ok = p.Stacks.Place(stack)
	for ok && shared[siteOf(place)] {
		outer := p.Stacks.Outside(stack)
		if outer == nil {
			break
		}
		stack = outer
		place, ok = p.Stacks.Place(stack)
	}
	return place, ok
}

// site is a place as a key: its frame's address and file do not matter.
type site struct {
	function string
	line     int
}

func siteOf(f code.Frame) site { return site{f.Function, int(f.Line)} }

// sharedSites returns the user's lines at which the service runs more than one statement.
func (p *Set) sharedSites(ops []operation.Operation) map[site]bool {
	first, shared := map[site]string{}, map[site]bool{}
	for _, o := range ops {
		if !o.Kind.Statement() || o.Text == "" {
			continue
		}
		form := statement.Normal(o.Text)
		for _, c := range o.Callers {
			place, ok := p.Stacks.Place(c.Stack)
			if !ok {
				continue
			}
			at := siteOf(place)
			if before, seen := first[at]; seen && before != form {
				shared[at] = true
			} else {
				first[at] = form
			}
		}
	}
	return shared
}
