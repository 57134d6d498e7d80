//go:build !linux || !(amd64 || arm64)

package events

import (
	"context"

	"github.com/redline-go/redline/observe"
)

type state struct{}

// Open implements observe.Source: it is refused, because the programs are for
// Linux on these architectures.
func (*Source) Open(context.Context, observe.Subject) error {
	return &observe.Unsupported{What: "kernel events are counted by eBPF, which is built for Linux on amd64 and arm64",
		Enable: "run the target and redline there"}
}

// Run implements observe.Source.
func (*Source) Run(context.Context, observe.Sink) error { return nil }
