package machine

import (
	"context"
	"sync"
	"time"
)

func handingOver(_ context.Context, _ *input, d time.Duration) (float64, error) {
	there, back := make(chan int), make(chan int)
	go func() {
		for v := range there {
			back <- v
		}
	}()
	defer close(there)
	const n = 2000
	return repeated(d, n, func() {
		for i := range n {
			there <- i
			<-back
		}
	}), nil
}

func spawning(_ context.Context, _ *input, d time.Duration) (float64, error) {
	const n = 10_000
	return repeated(d, n, func() {
		var all sync.WaitGroup
		all.Add(n)
		for range n {
			go all.Done()
		}
		all.Wait()
	}), nil
}

// waking returns the median by which a timer of 1 ms fires late.
func waking(_ context.Context, _ *input, d time.Duration) (float64, error) {
	took, err := medianOf(d, 1, func() error { time.Sleep(time.Millisecond); return nil })
	return took - float64(time.Millisecond), err
}
