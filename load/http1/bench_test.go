package http1

import (
	"testing"

	"github.com/redline-go/redline/load"
)

// BenchmarkWire is a request and its answer, what the event loop pays per
// request besides the system calls.
func BenchmarkWire(b *testing.B) {
	t := protocol(b, get("http://127.0.0.1:8080/"))
	w := t.Wire(0)
	out := w.Open(nil)
	answer := []byte(nginx)
	var ended []*load.Exchange
	var x load.Exchange
	b.ReportAllocs()
	for b.Loop() {
		var err error
		x.FirstByte = 0
		if out, err = w.Send(&x, out[:0]); err != nil {
			b.Fatal(err)
		}
		if out, ended, err = w.Receive(answer, 1, out[:0], ended[:0]); err != nil || len(ended) != 1 {
			b.Fatal(err, len(ended))
		}
		if room, _ := w.State(); room != 1 {
			b.Fatal("not kept")
		}
	}
}
