package http2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// nowhere is an account.Sink that keeps nothing.
type nowhere struct{}

func (nowhere) Add(...series.Point) error                                             { return nil }
func (nowhere) Counts(string, histogram.Kind, timebase.Span, *histogram.Counts) error { return nil }
func (nowhere) Slow(...record.SlowRequest) error                                      { return nil }

// TestLoadOverHTTP2 drives a server of net/http with the event loop, over
// plaintext and TLS. The server says GOAWAY now and then.
func TestLoadOverHTTP2(t *testing.T) {
	for _, secure := range []bool{false, true} {
		var seen atomic.Int64
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if seen.Add(1)%500 == 0 {
				w.Header().Set("Connection", "close") // net/http makes a GOAWAY of it
			}
			io.Copy(w, r.Body)
		}))
		if s.EnableHTTP2 = secure; secure {
			s.StartTLS()
		} else {
			s.Config.Protocols = &http.Protocols{}
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			s.Start()
		}
		defer s.Close()
		plan := &scenario.Plan{
			Protocol: protocol.HTTP2, TLS: scenario.TLS{Insecure: true},
			Load: scenario.Load{Connections: 3, Streams: 5, Requests: 3000, Duration: 10 * time.Minute, Timeout: time.Minute},
			Requests: []scenario.Request{
				{Name: "get", URL: feeder.Template(s.URL)},
				{Name: "post", Method: "POST", URL: feeder.Template(s.URL), Body: feeder.Template(strings.Repeat("body", 20000))},
			},
		}
		protocol, err := http2.New(plan)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := timebase.Start()
		if err != nil {
			t.Fatal(err)
		}
		r, err := load.Run(t.Context(), load.Config{Plan: plan, Clock: clock, Protocol: protocol, Record: nowhere{}})
		if err != nil {
			t.Fatal(err)
		}
		// The server must not have seen the requests that it turned away with a GOAWAY.
		sum, away := r.Load, r.Load.ErrorKinds[string(failure.StreamReset)]
		if sum.Requests != 3000 || sum.Errors != away || away > 300 || sum.Status["200"] != 3000-away ||
			seen.Load() != 3000-away || sum.BytesIn < sum.Requests*20000 {
			t.Errorf("TLS %v: the server saw %d of %+v: %v", secure, seen.Load(), sum, r.Warnings)
		}
	}
}
