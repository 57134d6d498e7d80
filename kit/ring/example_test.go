package ring_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/redline-go/redline/kit/ring"
)

func Example() {
	ctx := context.Background()
	lines := ring.New[string](64)
	var bytes atomic.Int64
	var consumers sync.WaitGroup
	for range 2 {
		consumers.Go(func() {
			for line := range lines.All(ctx) {
				bytes.Add(int64(len(line)))
			}
		})
	}
	for range 1000 {
		if err := lines.Put(ctx, "GET /orders"); err != nil {
			fmt.Println(err)
		}
	}
	lines.Close()
	consumers.Wait()
	fmt.Println(bytes.Load(), "bytes")
	// Output: 11000 bytes
}

func ExampleRing_TakeSome() {
	ctx := context.Background()
	r := ring.New[int](8)
	_, _ = r.PutAll(ctx, []int{1, 2, 3, 4, 5})
	r.Close()
	batch := make([]int, 3)
	for {
		n, err := r.TakeSome(ctx, batch)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch[:n])
	}
	// Output:
	// [1 2 3]
	// [4 5]
	// ring: closed
}
