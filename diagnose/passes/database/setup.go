package database

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
)

// openers make a pool and connect at once, by package. database/sql's own Open connects at the first
// use only.
var openers = map[string][]string{
	"gorm.io/gorm":                    {"Open"},
	"github.com/jinzhu/gorm":          {"Open"},
	"github.com/jmoiron/sqlx":         {"Connect", "ConnectContext", "MustConnect", "MustConnectContext"},
	"github.com/jackc/pgx/v5/pgxpool": {"New", "NewWithConfig"},
	"github.com/jackc/pgx/v4/pgxpool": {"Connect", "ConnectConfig"},
}

func opensPool(f code.Frame) bool {
	pkg, name := callstack.Split(f.Function)
	return slices.Contains(openers[pkg], name)
}

// setup is what calls that make a pool do besides opening its connections: the statements of a library that
// prepares its tables each time. All of it goes where the pool is made once.
type setup struct {
	calls map[call]bool
	share float64 // of request time, in statements
	part  float64 // of the waits for the database's statements, 0 to 1
	cpu   float64 // of the service's CPU, without that of connecting
}

// call is a function that the service's code calls at a place.
type call struct {
	place    code.Frame
	function string
}

// setupOf finds the calls in which requests open a connection of a pool that is made there.
func setupOf(p *diagnose.Pass) (s setup) {
	s.calls = map[call]bool{}
	for _, part := range p.Anatomy.All {
		if p.Stacks.Wait(part) == callstack.ConnectWait && slices.ContainsFunc(part.Stack, opensPool) {
			if c, ok := called(p, part.Stack); ok {
				s.calls[c] = true
			}
		}
	}
	if len(s.calls) == 0 {
		return s
	}
	statements := 0.0
	for _, part := range p.Anatomy.All {
		switch p.Stacks.Wait(part) {
		case callstack.DatabaseWait, callstack.PrepareWait:
			statements += float64(part.NS)
			if c, ok := called(p, part.Stack); ok && s.calls[c] {
				s.share += float64(part.NS) / float64(p.Anatomy.MeanNS)
				s.part += float64(part.NS)
			}
		}
	}
	s.part /= max(1, statements)
	if use, err := p.Use(); err == nil {
		s.cpu = use.Part(func(b usage.Booked) bool {
			c, ok := called(p, b.Stack)
			return ok && s.calls[c] && !b.Roles.Has(callstack.DBConnect)
		})
	}
	return s
}

// called returns what the innermost function of the service's own code calls on a stack.
func called(p *diagnose.Pass, stack []code.Frame) (c call, ok bool) {
	i := p.Stacks.Innermost(stack)
	if i <= 0 {
		return c, false
	}
	return call{stack[i], stack[i-1].Function}, true
}

// server returns how many of the server's CPUs execute the set-up's statements.
func (s setup) server(p *diagnose.Pass) float64 {
	outside, ok := outsideExecution(p)
	if c := p.CPU(); ok && c.Database > 0 {
		return s.part * (1 - outside) * c.Database
	}
	return 0
}

// describe says in a finding that each request makes a pool, and what else that does.
func (s setup) describe(f *diagnose.Finding) {
	if len(s.calls) > 0 {
		f.Remedy = "Open the pool once, at start-up, and share it: a new pool for each request is empty each time."
	}
	if s.share > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.share, diagnose.Ratio,
			"the call that opens the pool also runs statements each time: %s of request time", diagnose.Percent(s.share)))
	}
}
