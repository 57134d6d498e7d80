package clock_test

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/kit/clock"
)

// A cache that asks for each lookup whether the entry is still good.
func Example() {
	now := clock.Start(time.Millisecond)
	defer now.Stop()

	type entry struct {
		value   string
		expires time.Time
	}
	cache := map[string]entry{"a": {"alpha", now.Now().Add(time.Hour)}, "b": {"beta", now.Now().Add(-time.Second)}}
	for _, key := range []string{"a", "b"} {
		if e := cache[key]; now.Now().Before(e.expires) {
			fmt.Println(key, e.value)
		} else {
			fmt.Println(key, "expired")
		}
	}
	// Output:
	// a alpha
	// b expired
}

// Code that takes a function for its clock takes a coarse one as well.
func ExampleClock_Now() {
	var c clock.Clock // the zero value reads the real clock
	var now func() time.Time = c.Now
	fmt.Println(time.Since(now()) < time.Minute)
	// Output: true
}
