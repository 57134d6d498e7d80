package diagnose

import (
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// Drivers returns the database drivers on the stacks of the requests and of the
// CPU profile, in no order that means anything but always the same.
func (p *Pass) Drivers() []callstack.Driver {
	if p.drivers != nil {
		return *p.drivers
	}
	var found []callstack.Driver
	look := func(stack []record.Frame) {
		for _, f := range stack {
			if d := callstack.DriverOf(f.Function); d != "" && !slices.Contains(found, d) {
				found = append(found, d)
			}
		}
	}
	if p.Anatomy != nil {
		for _, part := range p.Anatomy.All {
			look(part.Stack)
		}
	}
	if prof, err := p.Profile("cpu", "cpu"); err == nil {
		for _, s := range prof.Samples {
			look(s.Stack)
		}
	}
	slices.Sort(found)
	p.drivers = &found
	return found
}

// Uses reports whether a driver was seen.
func (p *Pass) Uses(d callstack.Driver) bool { return slices.Contains(p.Drivers(), d) }

// UsesOnly reports whether a driver was seen, and no other.
func (p *Pass) UsesOnly(d callstack.Driver) bool { return p.Uses(d) && len(p.Drivers()) == 1 }
