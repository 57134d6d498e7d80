package batch_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redline-go/redline/kit/batch"
)

func Example() {
	type order struct{ user, cents int }

	orders, err := batch.New(batch.Config[order, int64]{
		MaxSize:  1000,
		MaxDelay: 20 * time.Millisecond,
		// One statement for the whole group, such as INSERT ... SELECT unnest($1), unnest($2).
		Flush: func(ctx context.Context, items []*batch.Item[order, int64]) error {
			for n, item := range items {
				if item.Value.cents <= 0 {
					item.Err = fmt.Errorf("user %d: nothing to pay", item.Value.user)
					continue
				}
				item.Result = int64(n + 1) // the new row's id
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	var handlers sync.WaitGroup
	for user := range 100 {
		handlers.Go(func() { // a request
			if _, err := orders.Do(ctx, order{user, user * 100}); err != nil {
				fmt.Println(err)
			}
		})
	}
	handlers.Wait()
	if err := orders.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(orders.Stats().Items, "items were written")
	// Output:
	// user 0: nothing to pay
	// 100 items were written
}
