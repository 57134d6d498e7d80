package anatomy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// gather answers all requests that came within a while after the first.
func gather(jobs chan chan int) {
	for first := range jobs {
		all, due := []chan int{first}, time.After(hold)
	more:
		for {
			select {
			case job := <-jobs:
				all = append(all, job)
			case <-due:
				break more
			}
		}
		for _, done := range all {
			done <- 1
		}
	}
}

// TestTimed: a wait ended because of a timer if a timer set off who ended it, also where requests came meanwhile; a goroutine that takes
// what it is handed is set off by that.
func TestTimed(t *testing.T) {
	jobs := make(chan chan int)
	t.Cleanup(func() { close(jobs) })
	go gather(jobs)
	addr := strings.TrimPrefix(downstream(t), "http://")
	submit := pool(t, 1, func() { query(addr) })
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/one" {
			submit()
			return
		}
		done := make(chan int)
		jobs <- done
		<-done
	}, nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 6, 8, func(c *http.Client, i int) error { return get(c, v.url()+[]string{"/one", "/batch"}[i%2]) })
	}))
	timed := map[string]float64{}
	for _, p := range a.All {
		for _, entry := range []string{"anatomy_test.gather", "anatomy_test.worker"} {
			if hasFrame(p.Stack, "runtime.chanrecv1") && len(p.Waker) > 0 && hasFrame(p.Waker, entry) {
				timed[entry] = max(timed[entry], p.Timed)
			}
		}
	}
	if len(timed) != 2 || timed["anatomy_test.gather"] < 0.9 || timed["anatomy_test.worker"] > 0.1 {
		t.Errorf("the part that a timer ended is %v\n%s", timed, render(a))
	}
}
