//go:build !linux

package perf

import (
	"context"

	"github.com/redline-go/redline/observe"
)

type state struct{}

var events []event

// Open implements observe.Source: it is refused.
func (*Source) Open(context.Context, observe.Subject) error {
	return &observe.Unsupported{What: "the CPU's counters are read through Linux", Enable: "run the target and redline on Linux"}
}

// Run implements observe.Source.
func (*Source) Run(context.Context, observe.Sink) error { return nil }
