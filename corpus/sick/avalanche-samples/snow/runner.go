package snow

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Runner runs a task for each of n layers.
type Runner interface {
	Run(ctx context.Context, n int, task func(i int) error) error
}

// Parallel gives each layer a goroutine.
type Parallel struct{}

// Run implements Runner.
func (Parallel) Run(ctx context.Context, n int, task func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return task(i)
		})
	}
	return g.Wait()
}

// InOrder takes the layers one after another.
type InOrder struct{}

// Run implements Runner.
func (InOrder) Run(ctx context.Context, n int, task func(i int) error) error {
	for i := range n {
		if err := task(i); err != nil {
			return err
		}
	}
	return ctx.Err()
}
