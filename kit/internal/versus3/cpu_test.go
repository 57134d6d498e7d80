package versus3

import (
	"syscall"
	"testing"
)

// cpu reports the processor time of the process per operation as cpu-ns/op, between its
// call and that of what it returns: elapsed time also counts what else the machine does.
func cpu(b *testing.B) (report func()) {
	begun := spent(b)
	return func() { b.ReportMetric(float64(spent(b)-begun)/float64(b.N), "cpu-ns/op") }
}

func spent(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
