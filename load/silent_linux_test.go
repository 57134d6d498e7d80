package load_test

import (
	"net"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
)

// TestASilentAddressIsSkipped has a name whose first address drops requests for a connection:
// each connection learns that once, and no request fails.
func TestASilentAddressIsSkipped(t *testing.T) {
	const patience = 2 * time.Second
	_, port, err := net.SplitHostPort(loadtest.Backlog(t))
	if err != nil {
		t.Fatal(err)
	}
	load.Names(t, func(string) []string { return []string{"127.0.0.1", "127.0.0.2"} })
	listen, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, listen, always("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", true))
	begin := time.Now()
	r, _, err := run(t, t.Context(), "http://app.test.:"+port+"/", scenario.Load{Connections: 1, Requests: 6, Timeout: patience})
	took := time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Load; s.Errors > 0 || s.Requests != 6 || s.Dials != 6 || took > patience {
		t.Errorf("%d requests, kinds %v, %d connections opened, %v", s.Requests, s.ErrorKinds, s.Dials, took)
	}
}
