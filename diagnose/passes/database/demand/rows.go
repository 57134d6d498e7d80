package demand

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/database"
)

// Rows is what the service spends on reading the rows that a statement returns, in addition to
// what the server spends on them. Fewer rows save both.
type Rows struct {
	// Function of the service reads the rows: it runs the statement, for itself or for its callers.
	Function string
	// Helpers are functions that it calls to read them.
	Helpers []string
	// CPU is its part of the service's CPU, 0 to 1, collection of what it allocates included.
	CPU float64
	// Running is the part of request time, 0 to 1, in which requests run while they read; 0 without a trace.
	Running float64
}

// ReadRows returns what the service spends on a statement's rows. A function that reads the rows of several
// statements spends on each in proportion to its rows. ok is false if the hooks did not count the statement,
// or the database is within the process: there reading is executing.
func ReadRows(p *diagnose.Pass, s database.Statement) (r Rows, ok bool) {
	asked, known := p.AskedAs(s.Text)
	if !known || InProcess(p) {
		return r, false
	}
	by, known := asked.Heaviest()
	if !known {
		return r, false
	}
	if r.Function = reader(p, by); r.Function == "" {
		return r, false
	}
	all := 0.0
	for _, a := range p.Asked() {
		if other, known := a.Heaviest(); known && reader(p, other) == r.Function {
			all += a.Rows
		}
	}
	if !(all > 0) {
		return r, false
	}
	r.CPU, r.Helpers = p.Reading(r.Function)
	r.CPU *= asked.Rows / all
	if mean := p.Waits().MeanNS(); mean > 0 {
		r.Running = min(1, asked.Running/mean)
	}
	return r, true
}

// CPUPerCall returns the service's CPU for one execution's rows, in ns; 0 if the load is unknown.
func (r Rows) CPUPerCall(p *diagnose.Pass, s database.Statement) float64 {
	each, rate := PerRequest(p, float64(s.Calls)), p.Load().Rate
	if !(each > 0) || !(rate > 0) || !(p.Own() > 0) {
		return 0
	}
	return r.CPU * p.Own() * 1e9 / rate / each
}

// LoadCPU returns the part of the load's CPU, 0 to 1, that both sides take for the rows, where executes is the
// statement's part of all execution time. It is 0 where CPUs are not the limit or the server's use is unknown.
func (r Rows) LoadCPU(p *diagnose.Pass, executes float64) float64 {
	c := p.CPU()
	if !c.Saturated() || !(c.Database > 0) || !(c.Used() > 0) {
		return 0
	}
	return min(1, (executes*executing(p)+r.CPU*p.Own())/c.Used())
}

// reader returns the innermost function of the service's own that runs a statement; "" without one.
func reader(p *diagnose.Pass, by evidence.AskedBy) string {
	i := p.Stacks.Innermost(by.Stack)
	if i < 0 {
		return ""
	}
	return callstack.Enclosing(by.Stack[i].Function)
}
