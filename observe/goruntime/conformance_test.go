package goruntime

import (
	"testing"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
)

func TestSourcesConform(t *testing.T) {
	s := startService(t, "-mutex")
	ways := s.ways()
	t.Run("metrics", func(t *testing.T) {
		observetest.Run(t, func() observe.Source { return NewMetrics() }, ways["probe"])
	})
	t.Run("profiles", func(t *testing.T) {
		observetest.Run(t, func() observe.Source { return NewProfiles(Options{}) }, ways["probe"], ways["http"])
	})
	t.Run("traces", func(t *testing.T) {
		observetest.Run(t, func() observe.Source { return NewTraces(Options{}) }, ways["probe"], ways["http"])
	})
}
