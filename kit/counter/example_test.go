package counter_test

import (
	"fmt"
	"sync"

	"github.com/redline-go/redline/kit/counter"
)

// Requests counted by all handlers, and drained per window by one reader.
func Example() {
	var requests counter.Counter // the zero value is ready for use

	var handlers sync.WaitGroup
	for range 8 {
		handlers.Go(func() {
			for range 1000 {
				requests.Inc()
			}
		})
	}
	handlers.Wait()
	fmt.Println("this window:", requests.Take())
	fmt.Println("the next:", requests.Take())
	// Output:
	// this window: 8000
	// the next: 0
}

// Workers with an index need no shards: each has its own place.
func ExamplePadded() {
	bytes := make([]counter.Padded, 4)
	var workers sync.WaitGroup
	for i := range bytes {
		workers.Go(func() { bytes[i].Add(int64(i) * 100) })
	}
	workers.Wait()
	var sum int64
	for i := range bytes {
		sum += bytes[i].Load()
	}
	fmt.Println(sum)
	// Output: 600
}
