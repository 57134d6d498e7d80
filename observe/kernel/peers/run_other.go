//go:build !linux

package peers

import (
	"context"

	"github.com/redline-go/redline/observe"
)

type state struct{}

// Open implements observe.Source: it is refused, because only Linux has
// sock_diag.
func (*Source) Open(context.Context, observe.Subject) error {
	return &observe.Unsupported{What: "peers are found through sock_diag and /proc, which only Linux has",
		Enable: "run the target and redline on Linux"}
}

// Run implements observe.Source.
func (*Source) Run(context.Context, observe.Sink) error { return nil }
