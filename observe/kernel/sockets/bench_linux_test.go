package sockets

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/timebase"
)

// BenchmarkReading is one reading of the target's connections: its CPU time, and
// half the width of the widest of its parts, the error of a date. The other ends also
// belong to this process, where a generator's would belong to another.
func BenchmarkReading(b *testing.B) {
	for _, n := range []int{1, 64, 1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pool(b, n)
			clock, err := timebase.Start()
			if err != nil {
				b.Fatal(err)
			}
			s := New()
			if err := s.Open(b.Context(), observe.Subject{Clock: clock, Window: timebase.DefaultWindow, PID: os.Getpid()}); err != nil {
				b.Fatal(err)
			}
			st := s.state
			defer st.release()
			st.owned.inodes = nil // the other ends are not the target's
			edge := time.Duration(0)
			st.connections(edge)
			before := ThreadCPU()
			b.ReportAllocs()
			for b.Loop() {
				edge += time.Hour
				st.connections(edge)
				_ = st.meter.Flush(&discard)
			}
			b.ReportMetric(float64((ThreadCPU()-before).Microseconds())/float64(b.N), "cpu-us/op")
			b.ReportMetric(float64(s.Health().Align.P99.Microseconds()), "p99-us")
		})
	}
}

var discard observetest.Sink
