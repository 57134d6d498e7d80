package database

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
)

// through returns the functions on the way to the pool that requests queue at:
// whoever uses it queues there now and then, so a function that never does uses
// another. Pools of another package than that of the longest queue are others, too:
// a function that opens a connection there now and then is not on the way
// (dispatch-desk has a pool of pgx and one of database/sql).
func through(p *diagnose.Pass) (functions []string) {
	sites := p.Waits().Sites(callstack.PoolWait)
	for _, s := range sites {
		if poolOf(p, s.Part.Stack) != poolOf(p, sites[0].Part.Stack) {
			continue
		}
		for _, f := range s.Part.Stack {
			functions = append(functions, f.Function)
		}
	}
	return functions
}

// poolOf returns the package whose pool a stack waits at: that of the frame nearest
// to the user which takes connections. A package may build on another's pool.
func poolOf(p *diagnose.Pass, stack []code.Frame) (pkg string) {
	for _, f := range stack {
		if p.Stacks.Role(f.Function).Has(callstack.DBPool) {
			pkg, _ = callstack.Split(f.Function)
		}
	}
	return pkg
}

// pool returns the pool that requests queue at as a resource. By Little's law so many
// connections are in use as there are requests that wait for the database beyond it;
// with a queue in front of them that is nearly all that there are, so that their
// number is the next whole one. ok is false where no request queues on average.
func pool(p *diagnose.Pass) (r laws.Resource, ok bool) {
	w, load := p.Waits(), p.Load()
	sites := w.Sites(callstack.PoolWait)
	if len(sites) == 0 || !(load.Rate*sites[0].NS/1e9 >= 1) {
		return r, false
	}
	beyond, held := through(p), 0.0
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
	r.Name = fmt.Sprintf("the pool of %.0f connections", r.Servers)
	return r, r.Busy > 0
}

// withQueue returns how much of request time is due to the database where a
// statement leads, and how much of that is the queue for connections which the
// statement causes. share is the database's part of request time with all queues,
// part the statement's part of execution; known says that its caller is counted
// rather than inferred.
//
// A statement causes no queue at a pool that its requests do not use (dispatch-desk
// has two pools). Where the hooks count, it accounts for as much of the queue as it
// has of the time that connections are held, which is not the server's execution
// time: a statement that runs while the rows of another are open holds both
// connections.
func withQueue(p *diagnose.Pass, s database.Statement, at asker.By, known bool, share, part float64) (all, queue float64) {
	queue = p.Waits().Share(callstack.PoolWait)
	if !known || queue == 0 {
		return share, queue
	}
	rest := max(0, share-queue)
	if !slices.Contains(through(p), at.Place.Function) {
		return rest, 0
	}
	own, exact := asker.Held(p, s.Text)
	if !exact || !(part > 0) {
		return share, queue
	}
	return min(1, rest+queue*own/part), queue * own
}
