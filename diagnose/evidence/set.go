// Package evidence derives from a record what more than one analyzer needs: who used the
// CPUs, what requests waited for, statements, goroutines, the critical path, and how much
// a model of the service predicts from removing some of it. Each table is read once per
// diagnosis.
//
// It states figures and decides nothing: it knows no analyzer, names no cause and
// makes no finding.
//
// Missing data is NaN, or ok = false, never 0: analyzers write comparisons so that
// NaN fails them, !(x >= least) rather than x < least.
package evidence

import (
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/database"
)

// Set holds the evidence of a record and its anatomy, each table computed on first use. New
// returns one. It is not safe for concurrent use.
type Set struct {
	*measured.Run
	*waits.Requests
	*usage.Service

	statements      measured.Memo[*database.Statements]
	statementsAsked measured.Memo[[]Asked]
	cpu             measured.Memo[CPU]
	stops           measured.Memo[Stops]
	serial          measured.Memo[[]serial]
}

// New returns the evidence of a record; a is nil if no trace was analysed.
func New(rec *record.Record, a *breakdown.Anatomy) *Set {
	run := measured.New(rec, a)
	return &Set{Run: run, Requests: &waits.Requests{Run: run}, Service: &usage.Service{Run: run}}
}
