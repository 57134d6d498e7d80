package shed_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/redline-go/redline/kit/shed"
)

func Example() {
	limiter, err := shed.New(shed.Options{Max: 500})
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "42 orders") })
	handler := shed.Handler{
		Limiter: limiter,
		Next:    orders,
		Exempt:  func(r *http.Request) bool { return r.URL.Path == "/healthz" },
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/orders", nil))
	fmt.Println(w.Code, w.Body)
	fmt.Println("admitted", limiter.Stats().Admitted)
	// Output:
	// 200 42 orders
	// admitted 1
}

// A call that is no HTTP request takes and ends its permit itself.
func ExampleLimiter_Acquire() {
	limiter, err := shed.New(shed.Options{Initial: 1, Min: 1, Max: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	work := func() error {
		permit, err := limiter.Acquire()
		if err != nil {
			return err
		}
		defer permit.Done()
		_, err = limiter.Acquire() // a second one beside it
		return err
	}
	fmt.Println(work())
	// Output: shed: over the limit
}
