package request_test

import (
	"fmt"
	"net/http"

	"github.com/redline-go/redline/probe/request"
)

// A service marks its sampled requests, so that redline finds them in an execution
// trace and beside the spans of other services.
func ExampleHandler() {
	mux := http.NewServeMux()
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {})
	server := http.Server{Addr: "127.0.0.1:8080", Handler: request.Handler(mux)}
	fmt.Println(server.Handler != nil)
	// Output: true
}

// Requests of other protocols get their id from headers that look like HTTP's.
func ExampleID() {
	sampled := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	fmt.Println(request.ID(sampled))
	ignored := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}}
	_, ok := request.ID(ignored)
	fmt.Println(ok)
	// Output:
	// 4bf92f3577b34da6a3ce929d0e0e4736 true
	// false
}
