package container

import (
	"bytes"

	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

// stall is one resource's series: time in which some task waited for it, and in
// which all that could run did.
type stall struct{ file, some, full string }

// groupStalls are those of the target's group, hostStalls the host's. The host
// cannot wait for its CPUs as a whole, so that it has no full stall of them.
var (
	groupStalls = []stall{
		{"cpu", series.PressureCPU, series.PressureCPUFull},
		{"memory", series.PressureMemory, series.PressureMemoryFull},
		{"io", series.PressureIO, series.PressureIOFull},
	}
	hostStalls = []stall{
		{"cpu", series.HostPressureCPU, ""},
		{"memory", series.HostPressureMemory, series.HostPressureMemoryFull},
		{"io", series.HostPressureIO, series.HostPressureIOFull},
	}
)

// pressure is the time stalled so far, in ns.
type pressure struct {
	some, full       uint64
	hasSome, hasFull bool
}

// parsePressure parses a file of lines such as
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=9040789", in us.
func parsePressure(text []byte) (p pressure) {
	for line := range bytes.Lines(text) {
		kind, rest, _ := bytes.Cut(line, []byte(" "))
		_, total, found := bytes.Cut(rest, []byte("total="))
		us, _, ok := pseudofile.Number(total)
		switch {
		case !found || !ok:
		case string(kind) == "some":
			p.some, p.hasSome = us*1000, true
		case string(kind) == "full":
			p.full, p.hasFull = us*1000, true
		}
	}
	return p
}
