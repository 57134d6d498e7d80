//go:build linux || darwin

package sampler

import (
	"syscall"

	"github.com/redline-go/redline/probe/ring"
)

// usage reads the process's own CPU time. It is a check on what redline reads
// from /proc, taken inside the sample's bracket. The names follow the style of
// runtime/metrics, which has none for it, and so differ from redline's own.
//
// getrusage(2): the sum of user and system is exact, their split is scaled from
// clock ticks.
type usage struct{ ru syscall.Rusage }

func (u *usage) columns() []ring.Column {
	return []ring.Column{
		{Name: "/process/cpu/user:cpu-seconds", Kind: ring.Cumulative, Unit: ring.Nanoseconds},
		{Name: "/process/cpu/system:cpu-seconds", Kind: ring.Cumulative, Unit: ring.Nanoseconds},
	}
}

func (u *usage) read(into []float64) {
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u.ru) != nil {
		into[0], into[1] = none, none
		return
	}
	into[0] = float64(u.ru.Utime.Nano())
	into[1] = float64(u.ru.Stime.Nano())
}
