package operations

import (
	"io"
	"runtime/trace"
	"testing"
)

// What an operation costs the program that it is counted in.
func BenchmarkOperation(b *testing.B) {
	const text = "SELECT id, customer_id, status, total_cents, created_at FROM orders WHERE customer_id = $1 AND " +
		"status = $2 ORDER BY created_at DESC LIMIT 20"
	Start()
	defer Stop()
	b.Run("alone", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			op, start := Begin(Query, text, "")
			End(op, start, 1, 0)
		}
	})
	b.Run("identified", func(b *testing.B) {
		values := []interface{}{int64(1234), "open"}
		for i := 0; i < b.N; i++ {
			op, start := Begin(Query, text, "")
			End(Identify(op, text, "", "", values), start, 1, 0)
		}
	})
	b.Run("on each CPU", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				op, start := Begin(Query, text, "")
				End(op, start, 1, 0)
			}
		})
	})
	b.Run("text built each time", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			op, start := Begin(Query, string(append([]byte(nil), text...)), "")
			End(op, start, 1, 0)
		}
	})
	b.Run("while a trace is recorded", func(b *testing.B) {
		if err := trace.Start(io.Discard); err != nil {
			b.Fatal(err)
		}
		defer trace.Stop()
		for i := 0; i < b.N; i++ {
			op, start := Begin(Query, text, "")
			End(op, start, 1, 0)
		}
	})
}
