package bands

import "testing"

// TestServes: what a goroutine began in says that it serves requests, also of one that has ended.
func TestServes(t *testing.T) {
	for entry, want := range map[string]bool{
		"net/http.(*conn).serve": true, "google.golang.org/grpc.(*Server).serveStreams.func2.1": true,
		"main.(*queue).work": false, "": false,
	} {
		if serves(entry) != want {
			t.Errorf("%q serves requests: %t", entry, !want)
		}
	}
}
