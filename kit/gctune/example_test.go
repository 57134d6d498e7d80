package gctune_test

import (
	"fmt"
	"log"
	"runtime/debug"
	"time"

	"github.com/redline-go/redline/kit/gctune"
)

// Collection is held at 5 % of the CPU that the service uses, within the container's memory.
func Example() {
	debug.SetGCPercent(100)
	tuner, err := gctune.Start(gctune.Options{GCShare: 0.05, Min: 50, Max: 400})
	if err != nil {
		fmt.Println(err)
		return
	}
	// ... serve ...
	tuner.Stop()
	fmt.Println(tuner.Stats().State, "GOGC", debug.SetGCPercent(100))
	// Output: stopped GOGC 100
}

// A service's own p99 of the last window is held at 20 ms.
func ExampleStart_latency() {
	p99 := func() (time.Duration, bool) { return 12 * time.Millisecond, true } // from the service's histogram
	tuner, err := gctune.Start(gctune.Options{
		P99: p99, Target: 20 * time.Millisecond,
		OnChange: func(s gctune.Stats) { log.Println("GOGC", s.GOGC, s.State) },
	})
	fmt.Println(err)
	tuner.Stop()
	tuner, err = gctune.Start(gctune.Options{P99: p99})
	fmt.Println(tuner, err)
	// Output:
	// <nil>
	// <nil> gctune: Target is 0s: P99 needs one above 0
}
