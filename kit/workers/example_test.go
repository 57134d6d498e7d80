package workers_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/kit/workers"
)

func Example() {
	pool, err := workers.New(workers.Options{
		Min: 2, Max: 32, Queue: 64,
		OnPanic: func(value any, _ []byte) { fmt.Println("contained:", value) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	var sent atomic.Int64
	for i := range 100 {
		// Waits while 64 tasks are queued: the loop goes no faster than the pool.
		err := pool.Submit(ctx, func(context.Context) {
			if i == 42 {
				panic("letter 42 has no address")
			}
			sent.Add(1)
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := pool.Close(patience); err != nil {
		fmt.Println(err)
	}
	fmt.Println(sent.Load(), "sent")
	// Output:
	// contained: letter 42 has no address
	// 99 sent
}
