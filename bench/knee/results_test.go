//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestLimitsAreInOrder: the limits of a row stand in one order, the most frequent first, so that the page changes with the figures alone.
func TestLimitsAreInOrder(t *testing.T) {
	s := services[0]
	r := &results{}
	for _, cause := range []string{"db-lock", "", "cpu-saturated", "pool-wait", "pool-wait", "gc-cpu", "io-disk"} {
		r.Repetitions = append(r.Repetitions, repetition{Service: s.name, Finding: cause})
	}
	const want = "| pool-wait 2, nothing 1, cpu-saturated 1, db-lock 1, gc-cpu 1, io-disk 1 |\n"
	if row := r.row(s); !strings.HasSuffix(row, want) {
		t.Errorf("%q does not end in %q", row, want)
	}
}
