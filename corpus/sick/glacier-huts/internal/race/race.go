// Package race runs tasks against each other.
package race

import (
	"context"
	"errors"
)

// Task is one way to an answer.
type Task[T any] func(ctx context.Context) (T, error)

type outcome[T any] struct {
	value T
	err   error
}

// First returns what the first task that has no error returns.
func First[T any](ctx context.Context, tasks ...Task[T]) (T, error) {
	results := make(chan outcome[T])
	for _, task := range tasks {
		go func() {
			v, err := task(ctx)
			results <- outcome[T]{v, err}
		}()
	}
	return pick(ctx, results, len(tasks))
}

// Any is First with a place for each result.
func Any[T any](ctx context.Context, tasks ...Task[T]) (T, error) {
	results := make(chan outcome[T], len(tasks))
	for _, task := range tasks {
		go func() {
			v, err := task(ctx)
			results <- outcome[T]{v, err}
		}()
	}
	return pick(ctx, results, len(tasks))
}

func pick[T any](ctx context.Context, results <-chan outcome[T], n int) (T, error) {
	var zero T
	var failed []error
	for range n {
		select {
		case <-ctx.Done():
			return zero, ctx.Err()
		case r := <-results:
			if r.err == nil {
				return r.value, nil
			}
			failed = append(failed, r.err)
		}
	}
	return zero, errors.Join(failed...)
}
