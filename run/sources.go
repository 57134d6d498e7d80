package run

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/goruntime"
	"github.com/redline-go/redline/observe/kernel"
	"github.com/redline-go/redline/observe/postgres"
	"github.com/redline-go/redline/observe/process"
)

// sources returns the sources of a run, anew for each run.
func sources() []observe.Source {
	return append([]observe.Source{
		goruntime.NewMetrics(),
		goruntime.NewProfiles(goruntime.Options{}),
		goruntime.NewTraces(goruntime.Options{}),
		process.New(process.Options{}),
		postgres.New(),
	}, kernel.Sources()...)
}
