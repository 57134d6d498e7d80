package anatomy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/record/code"
)

// Goroutines that a request starts, and that end before it, are known by the function
// they began in and by who started them; a goroutine that a connection or the service
// keeps is not one of them.
func TestHelpers(t *testing.T) {
	a := recorded(t, "fanout")
	if len(a.Helpers) != 1 {
		t.Fatalf("%d kinds of helpers, want what the group runs: %+v", len(a.Helpers), a.Helpers)
	}
	h := a.Helpers[0]
	if per := float64(h.Count) / float64(a.Requests); h.Entry != "main.fanOut.func1" ||
		per < 2.9 || per > 3.2 {
		t.Errorf("%.2f per request of %s, want three that it handed to the group", per, h.Entry)
	}
	if !onStack(h.Start, "main.fanOut") || !onStack(h.Start, "net/http.(*conn).serve") {
		t.Errorf("started by %v, want fanOut within a request", h.Start)
	}
	for _, name := range []string{"store", "lock"} {
		for _, h := range recorded(t, name).Helpers {
			t.Errorf("%s: %+v is reported as a helper of a request", name, h)
		}
	}
}

func onStack(stack []code.Frame, function string) bool {
	for _, f := range stack {
		if f.Function == function {
			return true
		}
	}
	return false
}

// TestWoken: a goroutine that requests hand something to works for them, and so does the one that it wakes; one that somebody else
// wakes does not.
func TestWoken(t *testing.T) {
	published, sent, ticks := make(chan int), make(chan int), make(chan int)
	var all sync.WaitGroup
	defer all.Wait()
	defer close(ticks)
	defer close(published)
	all.Add(3)
	go func() {
		defer all.Done()
		defer close(sent)
		for n := range published {
			sent <- n
		}
	}()
	go func() {
		defer all.Done()
		for range sent {
		}
	}()
	go func() {
		defer all.Done()
		for range ticks {
		}
	}()
	v := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { published <- 1 }), nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 1, 200, func(c *http.Client, n int) error {
			ticks <- n
			return get(c, v.url())
		})
	}))
	parts := map[string]float64{}
	for _, w := range a.Woken {
		if name, ok := strings.CutPrefix(w.Entry, "github.com/redline-go/redline/anatomy_test.TestWoken."); ok && w.Count >= 20 {
			parts[name] = float64(w.Requests) / float64(w.Count)
		}
	}
	if len(parts) != 3 || parts["func1"] < 0.9 || parts["func2"] < 0.9 || parts["func3"] > 0.1 {
		t.Errorf("woken by requests: %v of %+v", parts, a.Woken)
	}
}

// A go statement that gives arguments to a function in a variable begins in a wrapper of the
// compiler's, which stacks and profiles leave out: the goroutine is known by the function.
func TestStartedByAVariable(t *testing.T) {
	var handler http.HandlerFunc = func(rw http.ResponseWriter, r *http.Request) {
		var group sync.WaitGroup
		started := make(chan bool)
		group.Add(1)
		one := func(started chan<- bool) {
			defer group.Done()
			started <- true
		}
		go one(started)
		<-started
		group.Wait()
	}
	v := serve(t, handler, nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 1, 20, func(c *http.Client, _ int) error { return get(c, v.url()) })
	}))
	const want = "github.com/redline-go/redline/anatomy_test.TestStartedByAVariable.func1.1"
	if len(a.Helpers) != 1 || a.Helpers[0].Entry != want {
		t.Errorf("requests started %+v, want %s", a.Helpers, want)
	}
	for _, p := range a.All {
		for _, c := range p.Behind {
			for _, l := range c.Links {
				if strings.Contains(l.Goroutine, "gowrap") {
					t.Errorf("requests wait for %s, want %s", l.Goroutine, want)
				}
			}
		}
	}
}

// TestHelpersRunForTheirRequest: what a goroutine runs that a request starts and waits for, the request runs.
func TestHelpersRunForTheirRequest(t *testing.T) {
	const least = time.Millisecond
	var handler http.HandlerFunc = func(http.ResponseWriter, *http.Request) {
		done := make(chan bool)
		go func() {
			for end := time.Now().Add(2 * least); time.Now().Before(end); {
			}
			close(done)
		}()
		<-done
	}
	v := serve(t, handler, nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 1, 24, func(c *http.Client, _ int) error { return get(c, v.url()) })
	}))
	if a.Ran == nil || a.Ran.P10NS < least || a.Ran.MeanNS < least {
		t.Errorf("requests ran %+v, want more than %v each", a.Ran, least)
	}
}

// TestLeftBehind: a goroutine that outlives its request and the trace is counted with the stack of its go statement; one that ends
// with the request is not.
func TestLeftBehind(t *testing.T) {
	end := make(chan bool)
	defer close(end)
	var handler http.HandlerFunc = func(rw http.ResponseWriter, r *http.Request) {
		done := make(chan bool)
		go func() { close(done) }()
		<-done
		go func() { <-end }()
	}
	v := serve(t, handler, nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 1, 20, func(c *http.Client, _ int) error { return get(c, v.url()) })
	}))
	const of = "github.com/redline-go/redline/anatomy_test.TestLeftBehind.func1"
	if len(a.Left) != 1 || a.Left[0].Entry != of+".2" || a.Left[0].Count < 15 || !onStack(a.Left[0].Start, of) {
		t.Errorf("left are %+v, want about twenty of %s.2", a.Left, of)
	}
}

// One go statement may start several functions; each is known by its own name.
func TestStartedBySeveralVariables(t *testing.T) {
	var handler http.HandlerFunc = func(rw http.ResponseWriter, r *http.Request) {
		started := make(chan bool)
		both := []func(chan<- bool){
			func(started chan<- bool) { started <- true },
			func(started chan<- bool) { started <- false },
		}
		for _, f := range both {
			go f(started)
		}
		<-started
		<-started
	}
	v := serve(t, handler, nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 1, 20, func(c *http.Client, _ int) error { return get(c, v.url()) })
	}))
	const of = "github.com/redline-go/redline/anatomy_test.TestStartedBySeveralVariables.func1."
	started := map[string]int{}
	for _, h := range a.Helpers {
		started[h.Entry] += h.Count
	}
	if one, two := started[of+"1"], started[of+"2"]; len(started) != 2 || one < 10 || two < 10 {
		t.Errorf("requests started %v, want about twenty of each function", started)
	}
}
