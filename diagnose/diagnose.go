// Package diagnose finds in a record which cause limits the service, where, and by how
// much. Analyzers are plain values in a Suite; each sees only a Pass (the record, the
// anatomy and the results of the analyzers it needs), so that a saved bundle gives the
// same findings on another machine.
//
// An analyzer reads in one order: what it needs (Needs, without which it is not
// run), its rule (the constants, and the guards at the top of Run), its evidence
// (Fact), and its remedy. Its Cause documents the same for users, and redline
// explain prints it.
//
// Missing data yields "not judged", never "healthy".
//
// The gain of removing a cause decides between causes. In a closed loop requests queue
// somewhere whatever the limit is, so the place where they queue proves nothing by
// itself: while all CPUs are busy, a queue at the pool, at a lock or for a CPU is a
// symptom, and removing it would only move the queue. So removing a wait gains at most
// the idle CPUs, and removing CPU use gains at most its part of all the CPU in use; see
// evidence.Set.Waited, evidence.Set.Ran and package laws. Ranking by share alone was
// tried and rejected: it names the queue.
package diagnose

import (
	"github.com/redline-go/redline/record/findings"
)

// Finding is one cause with its evidence; see the record package.
type Finding = findings.Finding

// Analyzer decides about one or a few related causes. The zero value is not valid:
// see Validate.
type Analyzer struct {
	Name   string
	Doc    string  // how it decides, with its thresholds
	Stage  Stage   // which of two equal findings is judged first
	Causes []Cause // the causes it may name
	Needs  []Need  // data without which it does not run
	// After names analyzers whose findings this one reads through
	// Pass.Findings; the suite must be acyclic.
	After []string
	// Last makes it run after all others that are not Last, for causes reported only if
	// nothing else explains the limit; see Pass.FoundIn.
	Last bool
	// Run returns its findings, in any order; nil for none. An error makes its
	// causes not judged, with the error's text as the reason.
	Run func(*Pass) ([]Finding, error)
}

// Stage is the order of judgement: validity of the measurement, the host, the
// database, waits, memory, CPU. It breaks ties between findings that promise the
// same gain.
type Stage int

// Stages, in order.
const (
	Validity Stage = iota
	Host
	Database
	Wait
	Memory
	CPUUse
)

// Cause is an entry of the shared vocabulary (docs/causes.md).
type Cause struct {
	ID    string // "db-pool-wait"
	Title string // "Requests wait for a database connection"
	Doc   string // how it looks to the engineer, in two or three sentences
	// Knows describes the evidence, the thresholds, and the similar causes that it is
	// distinguished from.
	Knows string
	// Remedy is the general advice; a finding's remedy is specific.
	Remedy string
	// Example is the smallest code that has the defect, and the same code without it.
	Example Example
	// Verify is how to check that the remedy helped: a command, and what must change.
	Verify string
	// Cases names the services of the corpus that set its thresholds.
	Cases []string
	// FollowsFrom lists causes whose consequence this one may be. If one of them is
	// found and promises at least half as much (see rootWorth), this cause is
	// reported in that finding rather than in its own.
	FollowsFrom []string
	// SamePlace narrows FollowsFrom to findings that name the same function.
	SamePlace bool
	// CoveredBy lists causes whose consequence this one is where their finding covers its place
	// (Pass.Cover).
	CoveredBy []string
	// HeldBy lists causes that keep busy, or waiting, who holds what requests queue for: a goroutine,
	// a lock, a slot (Pass.Queue). If one of them names most of what that one does, the queue is its
	// consequence.
	HeldBy []string
	// RunQueue marks the queue for the CPUs. Taking less CPU shortens it by more than the
	// share that is saved.
	RunQueue bool
	// Voids marks a cause that voids every other finding: it ranks first.
	Voids bool
	// Qualifies marks a cause that concerns the measurement, or that applies when nothing
	// limits: it ranks last.
	Qualifies bool
	// Note marks a cause that is a warning in the summary rather than a finding: it
	// concerns only the measurement, and lowers the confidence of findings whose
	// figures it spoils.
	Note bool
	// Grows marks a cause that gets worse with time, such as a leak: it is reported
	// even if removing it gains nothing yet. Its Share is the grown part of what
	// ShareOf names. It ranks as if it gained a third: behind causes that limit the
	// service now, before what could merely be tuned.
	Grows bool
}

// Example is code before and after a remedy. Lang is its language as Markdown
// fences name it ("go", "sql", "yaml", "sh").
type Example struct{ Lang, Before, After string }

// Need is a kind of data that an analyzer cannot work without.
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
