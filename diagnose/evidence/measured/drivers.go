package measured

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// Drivers returns the database drivers on the stacks of the requests and of the CPU
// profile, sorted by name; nil if none was seen.
func (p *Run) Drivers() []callstack.Driver {
	return p.drivers.Get(p.readDrivers)
}

func (p *Run) readDrivers() (found []callstack.Driver) {
	look := func(stack []code.Frame) {
		for _, f := range stack {
			if d := callstack.DriverOf(f.Function); d != "" && !slices.Contains(found, d) {
				found = append(found, d)
			}
		}
	}
	p.stacks(look)
	slices.Sort(found)
	return found
}

// Imports reports whether the target's binary contains a module, in any major version. If
// the binary could not be read, it reports whether stacks show code of the module.
func (p *Run) Imports(module string) bool {
	if modules := p.Record.Run.Target.Modules; len(modules) > 0 {
		return slices.ContainsFunc(modules, func(path string) bool { return path == module || strings.HasPrefix(path, module+"/") })
	}
	for pkg := range p.packages.Get(p.readPackages) {
		if pkg == module || strings.HasPrefix(pkg, module+"/") {
			return true
		}
	}
	return false
}

// readPackages returns the packages of all functions on the stacks.
func (p *Run) readPackages() map[string]bool {
	packages := map[string]bool{}
	p.stacks(func(stack []code.Frame) {
		for _, f := range stack {
			pkg, _ := callstack.Split(f.Function)
			packages[pkg] = true
		}
	})
	return packages
}

// stacks calls look with each stack of the requests and of the CPU profile.
func (p *Run) stacks(look func([]code.Frame)) {
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
}

// Uses reports whether a driver was seen.
func (p *Run) Uses(d callstack.Driver) bool { return slices.Contains(p.Drivers(), d) }

// UsesOnly reports whether a driver was seen, and no other.
func (p *Run) UsesOnly(d callstack.Driver) bool { return p.Uses(d) && len(p.Drivers()) == 1 }
