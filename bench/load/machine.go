//go:build linux

package main

import (
	"time"

	"github.com/redline-go/redline/benchmark"
)

// machine says where figures were measured.
type machine struct {
	benchmark.Machine
	Tools map[string]string `json:"tools"` // name to version
}

// busyShare is how much of all cores is in use over a moment in which the
// harness does nothing itself: the share that others take from the measurement.
func busyShare(moment time.Duration) (float64, error) {
	before, err := benchmark.HostCPU()
	if err != nil {
		return 0, err
	}
	time.Sleep(moment)
	after, err := benchmark.HostCPU()
	if err != nil {
		return 0, err
	}
	all := after.All - before.All
	if all <= 0 {
		return 0, nil
	}
	return 1 - float64(after.Idle-before.Idle)/float64(all), nil
}
