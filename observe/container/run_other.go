//go:build !linux

package container

import (
	"context"

	"github.com/redline-go/redline/observe"
)

type state struct{}

// Open implements observe.Source: it is refused, because only Linux has these
// files.
func (*Source) Open(context.Context, observe.Subject) error {
	return &observe.Unsupported{What: "cgroups and PSI exist only on Linux", Enable: "run the target and redline on Linux"}
}

// Run implements observe.Source.
func (*Source) Run(context.Context, observe.Sink) error { return nil }
