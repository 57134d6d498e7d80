// Package suite lists redline's analyzers. To add one, add it to the list of its package
// (in its doc.go); nothing registers itself.
package suite

import (
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/passes/host"
	"github.com/redline-go/redline/diagnose/passes/memory"
	"github.com/redline-go/redline/diagnose/passes/wait"
)

// All returns every analyzer, in the order of judgement.
func All() []diagnose.Analyzer {
	return slices.Concat(host.Analyzers(), database.Analyzers(), wait.Analyzers(), downstream.Analyzers(),
		memory.Analyzers(), cpu.Analyzers())
}
