package anatomy_test

import (
	"fmt"
	"os"

	"github.com/redline-go/redline/anatomy"
)

// A recorded execution trace of a service whose handlers sleep, wait for a lock and
// hand work over: where the time of its mean request went.
func ExampleAnalyze() {
	trace, err := os.Open("testdata/go1.26.trace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer trace.Close()
	a, err := anatomy.Analyze([]anatomy.Input{{Trace: trace}}, anatomy.Options{Module: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Requests, "requests, mean", a.MeanNS)
	for _, part := range a.All[:3] {
		fmt.Println(part.State, part.Site)
	}
	// Output:
	// 120 requests, mean 1.462369ms
	// sleep time.Sleep < main.posted main.go:42
	// sleep time.Sleep < main.locked main.go:30
	// lock main.locked main.go:28
}
