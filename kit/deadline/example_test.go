package deadline_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redline-go/redline/kit/deadline"
)

// Example nests two layers with limits of their own. The query waits for the sooner one.
func Example() {
	query := func(ctx context.Context) error {
		select {
		case <-time.After(time.Minute): // the database's answer
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	repository := func(ctx context.Context) error {
		ctx, cancel := deadline.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		return query(ctx)
	}
	service := func(ctx context.Context) error {
		ctx, cancel := deadline.WithTimeout(ctx, time.Hour)
		defer cancel()
		if err := repository(ctx); err != nil {
			return fmt.Errorf("repository: %w; the service itself has %v", err, ctx.Err())
		}
		return nil
	}
	fmt.Println(service(context.Background()))
	// Output: repository: context deadline exceeded; the service itself has <nil>
}
