package demand

import (
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/code"
)

const (
	// LeastPoolShare is the part of request time spent waiting for a connection.
	LeastPoolShare = 0.20
	// LeastRequestShare is a statement's least part of request time: less does not limit the
	// service.
	LeastRequestShare = 0.15
)

// Through returns the functions on the way to the pool that requests queue at:
// any user of it queues there now and then, so a function that never does uses
// another. A pool of another package than the longest queue's is another pool: a
// function that now and then opens a connection there is not on the way
// (dispatch-desk has a pool of pgx and one of database/sql).
func Through(p *diagnose.Pass) (functions []string) {
	sites := p.Waits().Sites(callstack.PoolWait)
	for _, s := range sites {
		if PoolOf(p, s.Part.Stack) != PoolOf(p, sites[0].Part.Stack) {
			continue
		}
		for _, f := range s.Part.Stack {
			functions = append(functions, f.Function)
		}
	}
	return functions
}

// PoolOf returns the package whose pool a stack waits at: the package of the
// connection-taking frame nearest to the user's code. A package may build on
// another's pool.
func PoolOf(p *diagnose.Pass, stack []code.Frame) (pkg string) {
	for _, f := range stack {
		if p.Stacks.Role(f.Function).Has(callstack.DBPool) {
			pkg, _ = callstack.Split(f.Function)
		}
	}
	return pkg
}

// Pool returns the pool that requests queue at, as a resource. By Little's law the
// connections in use are as many as the requests that wait for the database behind
// it. With a queue in front, nearly all connections are in use, so their number is
// the next whole one. ok is false where no request queues on average.
func Pool(p *diagnose.Pass) (r laws.Resource, ok bool) {
	w, load := p.Waits(), p.Load()
	sites := w.Sites(callstack.PoolWait)
	if len(sites) == 0 || !(load.Rate*sites[0].NS/1e9 >= 1) {
		return r, false
	}
	beyond, held := Through(p), 0.0
	for _, kind := range []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait} {
		for _, s := range w.Sites(kind) {
			if slices.Contains(beyond, s.Place.Function) {
				held += s.NS
			}
		}
	}
	r.Counted = true
	r.Busy = load.Rate * held / 1e9
	r.Servers = math.Ceil(r.Busy)
	r.Name = "the pool of " + diagnose.Counted(r.Servers, "connection", "connections")
	return r, r.Busy > 0
}
