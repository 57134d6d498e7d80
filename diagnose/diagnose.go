// Package diagnose judges a record: which cause stops the service, where, and
// by how much. Analyzers are plain values in a Suite; each sees a Pass (the
// record, the anatomy and the results of the analyzers it needs) and nothing of
// the world, so that a saved bundle gives the same findings on another machine.
//
// Missing data yields "not judged", never "healthy".
package diagnose

import (
	"github.com/redline-go/redline/record"
)

// Finding is one cause with its evidence; see the record package.
type Finding = record.Finding

// Analyzer judges one or a few related causes.
type Analyzer struct {
	Name   string
	Doc    string  // how it decides, with its thresholds
	Causes []Cause // the causes it may name
	Needs  []Need  // data without which it does not run
	// After names analyzers whose findings this one reads through
	// Pass.Findings; the suite must be acyclic.
	After []string
	Run   func(*Pass) ([]Finding, error)
}

// Cause is an entry of the shared vocabulary (docs/causes).
type Cause struct {
	ID    string // "db-pool-wait"
	Title string // "Requests wait for a database connection"
	Doc   string // how it looks and how redline knows
	// Remedy is the general advice; a finding's remedy is specific.
	Remedy string
}

// Need is a kind of data that an analyzer cannot do without.
type Need string

// Kinds of data.
const (
	NeedLoad       Need = "load"
	NeedAnatomy    Need = "anatomy"
	NeedCPUProfile Need = "cpu profile"
	NeedAllocs     Need = "allocs profile"
	NeedMutex      Need = "mutex profile"
	NeedRuntime    Need = "runtime metrics"
	NeedProcess    Need = "process figures"
	NeedStatements Need = "statement statistics"
)
