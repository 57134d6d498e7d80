package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// Asked is one statement as the service sent it, counted by the hooks of redline's
// build: exact, whichever database runs it. Counts are of the steady span.
type Asked struct {
	// Text is the statement without its constants, which identifies it.
	Text   string
	Calls  float64 // in the steady span
	Errors float64
	Rows   float64 // read or changed, if the driver reports it
	NS     float64 // until the rows were closed, including statements in between
	// Prepares is how often the service prepared it.
	Prepares float64
	// Most is the largest number of executions in one traced request; 0 if none was traced.
	Most int64
	// Always is how often each whole request in the traces ran it, if all ran it equally often; 0 otherwise, or where it is not known.
	Always float64
	// Running, Queued and Waiting are the ns that the traces' mean request spends in
	// the statement itself, not in operations inside it; zero without traces.
	Running, Queued, Waiting float64
	// Callers are the places in the user's code that ran it, by number of calls,
	// most first.
	Callers []AskedBy
	// Plan is SQLite's query plan, if the run could read it, and Server that of a PostgreSQL
	// server that counts no statements.
	Plan   *operation.SQLitePlan
	Server *operation.ServerPlan

	form, counted string // of Text, as Normal and as Counted return it
}

// AskedBy is one place that runs a statement.
type AskedBy struct {
	Place code.Frame
	User  bool
	Share float64 // of the statement's calls, 0 to 1
	NS    float64 // per call there, on average
	Stack []code.Frame
}

// Took returns the statement's own time in the mean request, in ns.
func (a Asked) Took() float64 { return a.Running + a.Queued + a.Waiting }

// Lead returns the caller with most calls. ok is false without stacks.
func (a Asked) Lead() (by AskedBy, ok bool) {
	if len(a.Callers) == 0 {
		return by, false
	}
	return a.Callers[0], true
}

// Heaviest returns the caller that accounts for most of the statement's time. ok is false
// without stacks.
func (a Asked) Heaviest() (by AskedBy, ok bool) {
	for _, c := range a.Callers {
		if !ok || c.Share*c.NS > by.Share*by.NS {
			by, ok = c, true
		}
	}
	return by, ok
}

// Asked returns the statements that the hooks counted, by their time, longest
// first; none if the target has no hooks or its database is used in ways they do
// not see.
func (p *Set) Asked() []Asked {
	return p.statementsAsked.Get(p.readAsked)
}

// AskedAs returns the hooks' counts of a statement, given the server's text of it.
// ok is false if they did not see it.
func (p *Set) AskedAs(text string) (a Asked, ok bool) {
	form := statement.Normal(text)
	for _, a := range p.Asked() {
		if a.form == form || cutForm(a.Text, form) {
			return a, true
		}
	}
	counted := statement.Counted(form)
	for _, a := range p.Asked() {
		if a.counted == counted {
			return a, true
		}
	}
	return a, false
}

// cutForm reports whether a text that the target truncated is the beginning of a
// form.
func cutForm(text, form string) bool {
	head, cut := strings.CutSuffix(text, "...")
	if !cut {
		return false
	}
	head = statement.Normal(head)
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		head = head[:i] // the last word may be truncated
	}
	return head != "" && strings.HasPrefix(form, head)
}

func (p *Set) readAsked() (all []Asked) {
	ops := p.Operations()
	if ops == nil {
		return nil
	}
	traced := map[int]breakdown.OperationsPerRequest{}
	if p.Anatomy != nil {
		for _, o := range p.Anatomy.Operations {
			traced[o.Operation] = o
		}
	}
	byForm, shared := map[string]*Asked{}, p.sharedSites(ops.Operations)
	counted := p.noneJoined() || p.runElsewhere()
	for _, o := range ops.Operations {
		if !o.Kind.Statement() || o.Text == "" {
			continue
		}
		form := statement.Normal(o.Text)
		a := byForm[form]
		if a == nil {
			a = &Asked{Text: o.Text, form: form, counted: statement.Counted(form)}
			byForm[form] = a
		}
		t := traced[o.ID]
		if counted || p.tooLongToTrace(o) {
			t = p.asCounted(o)
		}
		a.add(o, t)
		if o.Kind != operation.Prepare {
			a.Always = p.always(a.Always, t)
		}
		p.addCallers(a, o, shared)
	}
	for _, a := range byForm {
		a.settle()
		if a.Plan == nil {
			a.Plan = ops.PlanOf(a.Text)
		}
		if a.Server == nil {
			a.Server = ops.ServerPlanOf(a.Text)
		}
		all = append(all, *a)
	}
	slices.SortFunc(all, func(x, y Asked) int {
		return cmp.Or(cmp.Compare(y.NS, x.NS), cmp.Compare(x.Text, y.Text))
	})
	return all
}

// tooLongToTrace reports whether no trace can hold a whole call of an operation: an
// operation is joined to its request where it begins and where it ends, so a statement
// of five seconds leaves nothing in a trace of one.
func (p *Set) tooLongToTrace(o operation.Operation) bool {
	return p.Anatomy != nil && p.Anatomy.Traced > 0 && o.Calls > 0 && o.TotalNS/o.Calls >= int64(p.Anatomy.Traced)/2
}

// noneJoined reports whether traces joined no operation to its request, because they hold no whole
// request: a page of a hundred statements that takes three seconds leaves only pieces in traces of one.
func (p *Set) noneJoined() bool {
	return p.Anatomy != nil && p.Anatomy.Requests == 0 && p.Anatomy.Partial > 0 && len(p.Anatomy.Operations) == 0
}

// runElsewhere reports whether goroutines of their own run the statements of requests: traces joined none to a request, and
// requests wait for the database, or for a goroutine that does. euterpe hands closures to one that has the connection, and
// permify's single-flight group starts one for each flight.
func (p *Set) runElsewhere() bool {
	if p.Anatomy == nil || p.Anatomy.Requests == 0 || len(p.Anatomy.Operations) > 0 {
		return false
	}
	behind := p.Waits().Share(callstack.DatabaseWait)
	for _, site := range p.Waits().Sites(callstack.ChannelWait) {
		behind += site.Share * p.PartIn(site, callstack.DatabaseWait)
	}
	return behind >= leastElsewhere || p.runSerially()
}

// runSerially reports whether one goroutine runs statements for requests that wait for it. A database within the process makes it
// run, not wait.
func (p *Set) runSerially() bool {
	for _, o := range p.Operations().Operations {
		for _, by := range o.Callers {
			if n, ok := p.Path().Behind(began(by.Stack)); o.Kind.Statement() && ok && n.Share >= leastElsewhere {
				return true
			}
		}
	}
	return false
}

// began returns the function that the goroutine of a hook's stack began in. Unlike those of profiles it ends in the runtime's.
func began(stack []code.Frame) string {
	if n := len(stack); n > 0 && stack[n-1].Function == "runtime.goexit" {
		stack = stack[:n-1]
	}
	return measured.Entry(stack)
}

// Serially returns the part of request time, 0 to 1, in which requests wait for goroutines that meanwhile run a statement for
// someone: these are as busy with it as it takes of their time.
func (p *Set) Serially(a Asked) (share float64) {
	for _, by := range a.Callers {
		entry := began(by.Stack)
		behind, ok := p.Path().Behind(entry)
		one, serial := p.Path().Serial(entry)
		busy := one.Utilization * float64(one.Goroutines) * float64(p.Steady().Len())
		if ok && serial && busy > 0 {
			share += behind.Share * min(1, a.NS*by.Share/busy)
		}
	}
	return min(1, share)
}

// leastElsewhere is the part of request time from which waiting for who runs the statements is what requests do.
const leastElsewhere = 0.2

// asCounted replaces the traces' time of an operation by the hooks': its part of
// request time, applied to the traces' mean request. It is split into running, queued
// and waiting as the request as a whole is.
func (p *Set) asCounted(o operation.Operation) (t breakdown.OperationsPerRequest) {
	load, w := p.Load(), p.Waits()
	if !(load.Requests > 0) || !(load.Service > 0) {
		return t
	}
	ns := min(1, float64(o.TotalNS)/load.Requests/load.Service) * w.MeanNS()
	t.RunningNS = int64(ns * w.OnCPU())
	t.QueuedNS = int64(ns * w.Share(callstack.Queued))
	t.WaitingNS = int64(ns) - t.RunningNS - t.QueuedNS
	return t
}

func (a *Asked) add(o operation.Operation, t breakdown.OperationsPerRequest) {
	a.Running, a.Queued, a.Waiting = a.Running+float64(t.RunningNS), a.Queued+float64(t.QueuedNS), a.Waiting+float64(t.WaitingNS)
	if o.Kind == operation.Prepare {
		a.Prepares += float64(o.Calls)
		return
	}
	a.Calls, a.Errors = a.Calls+float64(o.Calls), a.Errors+float64(o.Errors)
	a.Rows, a.NS = a.Rows+float64(o.Rows), a.NS+float64(o.TotalNS)
	a.Most = max(a.Most, t.Max)
}

// varies stands for a number of executions that is not the same for all requests.
const varies = -1

// always returns how often each whole request ran a statement, given the same of its operations before and another of them; varies if
// it is not the same for all.
func (p *Set) always(before float64, t breakdown.OperationsPerRequest) float64 {
	if before == varies || p.Anatomy == nil || t.Mean != float64(t.Max) || t.Requests != int64(p.Anatomy.Requests) {
		return varies
	}
	return before + t.Mean
}

// addCallers adds the user's places that run an operation. Their Share is in calls
// until settle.
func (p *Set) addCallers(a *Asked, o operation.Operation, shared map[site]bool) {
	if o.Kind == operation.Prepare {
		return // the function that prepares it need not be the one that runs it
	}
	for _, c := range o.Callers {
		place, ok := p.askedFrom(c.Stack, shared)
		if !ok {
			continue
		}
		calls := c.Share * float64(o.Calls)
		i := slices.IndexFunc(a.Callers, func(b AskedBy) bool {
			return b.Place.Function == place.Function && b.Place.Line == place.Line
		})
		if i < 0 {
			i = len(a.Callers)
			a.Callers = append(a.Callers, AskedBy{Place: place, User: p.Stacks.User(place), Stack: c.Stack})
		}
		b := &a.Callers[i]
		b.NS = (b.NS*b.Share + float64(c.MeanNS)*calls) / max(1, b.Share+calls)
		b.Share += calls
	}
}

func (a *Asked) settle() {
	a.Always = max(0, a.Always)
	total := 0.0
	for _, c := range a.Callers {
		total += c.Share
	}
	for i := range a.Callers {
		a.Callers[i].Share /= max(1, total)
	}
	slices.SortStableFunc(a.Callers, func(x, y AskedBy) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Place.Function, y.Place.Function))
	})
}

// Acquired holds the hooks' counts of connections taken from pools.
type Acquired struct {
	Calls  float64
	Opened float64 // connections opened for them
	WaitNS float64 // all waits
	HeldNS float64 // how long connections were held, all together
}

// Acquired returns the sums over all pools; ok is false where no hook counted any.
func (p *Set) Acquired() (sum Acquired, ok bool) {
	ops := p.Operations()
	if ops == nil {
		return sum, false
	}
	for _, o := range ops.Operations {
		if o.Kind == operation.Acquire {
			sum.Calls, sum.Opened = sum.Calls+float64(o.Calls), sum.Opened+float64(o.Opened)
			sum.WaitNS, sum.HeldNS = sum.WaitNS+float64(o.TotalNS), sum.HeldNS+float64(o.HeldNS)
		}
	}
	return sum, sum.Calls > 0
}

// Opener returns the user's place for which most connections were opened, by the calls whose stack
// was taken; ok is false if none was opened at a place of the user's.
func (p *Set) Opener() (at code.Frame, ok bool) {
	return p.Asker(func(o operation.Operation, c operation.Caller) float64 {
		if o.Kind != operation.Acquire {
			return 0
		}
		return float64(c.Opened)
	})
}

// Dialler returns the user's place for which HTTP clients opened most connections; ok is false where none was counted.
func (p *Set) Dialler() (at code.Frame, ok bool) {
	return p.Asker(func(o operation.Operation, c operation.Caller) float64 {
		if o.Kind != operation.Dial {
			return 0
		}
		return c.Share * float64(o.Opened)
	})
}

// Asker returns the place in the user's code at which count, summed over the hooks' operations and their callers, is largest; ok is
// false if it is zero everywhere.
func (p *Set) Asker(count func(operation.Operation, operation.Caller) float64) (at code.Frame, ok bool) {
	ops := p.Operations()
	if ops == nil {
		return at, false
	}
	sums := map[code.Frame]float64{}
	for _, o := range ops.Operations {
		for _, c := range o.Callers {
			if place, known := p.Stacks.Place(c.Stack); known && p.Stacks.User(place) {
				sums[place] += count(o, c)
			}
		}
	}
	at = measured.Heaviest(sums, measured.CompareFrames)
	return at, sums[at] > 0
}

// Statements returns statements.json with the statements sorted by execution
// time, longest first; nil when the run saw none.
func (p *Set) Statements() *database.Statements {
	return p.statements.Get(func() *database.Statements {
		var s database.Statements
		if p.Record.ReadJSON(database.File, &s) != nil {
			return nil
		}
		slices.SortStableFunc(s.Statements, func(a, b database.Statement) int { return cmp.Compare(b.Time, a.Time) })
		return &s
	})
}

// StatementShare returns a statement's part of the execution time of all
// statements, 0 to 1.
func StatementShare(all *database.Statements, s database.Statement) float64 {
	total := 0.0
	for _, other := range all.Statements {
		total += float64(other.Time)
	}
	if total <= 0 {
		return 0
	}
	return float64(s.Time) / total
}

// CountedRequests returns the requests of the time in which the hooks counted operations: their counters are read a few times per
// second, so that is a little less than the time of the load. All of the load's requests without hooks.
func (p *Set) CountedRequests() float64 {
	n, ops := p.Load().Requests, p.Operations()
	if ops == nil {
		return n
	}
	if part := float64(ops.Span.Len()) / float64(p.Steady().Len()); part > 0 && part < 1 {
		return part * n
	}
	return n
}
