package http1

import (
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// BenchmarkWire is a request and its answer: the event loop's cost per request
// apart from the system calls.
func BenchmarkWire(b *testing.B) {
	p := get("http://127.0.0.1:8080/")
	p.Data = map[string]*feeder.Table{"u": {Columns: []string{"id"}, Rows: [][]string{{"1"}, {"2"}}}}
	want := "2"
	p.Requests = append(p.Requests,
		scenario.Request{Method: "POST", URL: "http://127.0.0.1:8080/{{u}}", Body: `{"id":"{{u}}"}`},
		scenario.Request{URL: "http://127.0.0.1:8080/", Checks: []scenario.Check{{JSON: "$.id", Equals: &want}}})
	made := protocol(b, p)
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"id\":2}\r\n0\r\n\r\n"
	for _, test := range []struct {
		name    string
		request int
		answer  string
	}{
		{"static", 0, nginx}, {"rendered", 1, nginx}, {"chunked", 0, chunked}, {"checked", 2, chunked},
		{"refused", 0, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"},
	} {
		b.Run(test.name, func(b *testing.B) {
			w := made.Wire(0)
			out := w.Open(nil)
			answer := []byte(test.answer)
			var ended []*load.Exchange
			x := load.Exchange{Request: test.request, Data: p.NewCursor(1)}
			b.ReportAllocs()
			for b.Loop() {
				var err error
				x.FirstByte = 0
				if out, err = w.Send(&x, out[:0]); err != nil {
					b.Fatal(err)
				}
				if out, ended, err = w.Receive(answer, 1, out[:0], ended[:0]); err != nil || len(ended) != 1 || x.Failed != 0 {
					b.Fatal(err, len(ended), x.Failed)
				}
				if room, _ := w.State(); room != 1 {
					b.Fatal("not kept")
				}
			}
		})
	}
}
