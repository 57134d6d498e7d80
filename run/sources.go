package run

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/container"
	"github.com/redline-go/redline/observe/goruntime"
	"github.com/redline-go/redline/observe/kernel"
	"github.com/redline-go/redline/observe/perf"
	"github.com/redline-go/redline/observe/postgres"
	"github.com/redline-go/redline/observe/process"
	"github.com/redline-go/redline/observe/spans"
	"github.com/redline-go/redline/observe/sqlite"
)

// Sources returns the sources of a run of a subject, anew for each run.
func Sources(subject observe.Subject) []observe.Source {
	list := append([]observe.Source{
		goruntime.NewMetrics(),
		goruntime.NewProfiles(goruntime.Options{}),
		goruntime.NewTraces(goruntime.Options{}),
		goruntime.NewOperations(&sqlite.Plans{}, goruntime.AfterLoad(postgres.Explain)),
		process.New(process.Options{}),
		container.New(container.Options{}),
		perf.New(),
		postgres.New(),
		spans.New(),
	}, kernel.Sources()...)
	if subject.GCTrace != nil { // replaces the probe, if there is none
		list = append(list, goruntime.NewCollections())
	}
	return list
}

// counters returns the sources of a run that is compared with others.
func counters() []observe.Source {
	return []observe.Source{goruntime.NewMetrics(), process.New(process.Options{})}
}
