//go:build linux

package main

import (
	"testing"
)

func TestReadAllocations(t *testing.T) {
	const text = `goos: linux
pkg: github.com/redline-go/redline/load
BenchmarkLoop-2   	       1	 500000000 ns/op	   200000 requests/s	     160 B/op	    1000 allocs/op
PASS
pkg: github.com/redline-go/redline/load/http1
BenchmarkWire/chunked 	 2000000	       473.8 ns/op	       0 B/op	       0 allocs/op
BenchmarkSilent-2 	 2000000	       1.0 ns/op
`
	got := readAllocations(text)
	want := []allocation{{"load", "Loop", 5e8, 160, 1000, 1e5}, {"load/http1", "Wire/chunked", 473.8, 0, 0, 1}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] || got[0].perRequest() != 0.01 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
