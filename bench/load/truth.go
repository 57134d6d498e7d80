//go:build linux

package main

import (
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix" // a blocking socket, and affinity

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/bench/load/serve"
)

// stall is when the server stalled, in monotonic time.
type stall struct{ Begin, End time.Duration }

// truth is the latency of every request of an open loop, from the schedule and
// the server's own record of its stalls: a request that is due in a stall waits
// for its end, and each takes in addition the time of an undisturbed request, of which
// base holds samples. The result is in ascending order.
func truth(start, length time.Duration, rate float64, stalls []stall, base []time.Duration) []time.Duration {
	var latencies []time.Duration
	for i := range int(rate * length.Seconds()) {
		due := start + time.Duration(float64(i)/rate*float64(time.Second))
		latency := base[i%len(base)]
		for _, s := range stalls {
			if s.Begin <= due && due < s.End {
				latency += s.End - due
			}
		}
		latencies = append(latencies, latency)
	}
	slices.Sort(latencies)
	return latencies
}

// quantile is the smallest latency that a share of q does not exceed, as
// HdrHistogram defines it.
func quantile(ascending []time.Duration, q float64) time.Duration {
	if len(ascending) == 0 {
		return 0
	}
	// The product of, say, 0.999 and 1000 is a little more than 999.
	rank := int(math.Ceil(q*float64(len(ascending)) - 1e-9))
	return ascending[min(max(rank, 1), len(ascending))-1]
}

// tallyOf is the truth in the form of a tool's report.
func tallyOf(ascending []time.Duration) generator.Tally {
	return generator.Tally{
		Requests: int64(len(ascending)), P50: quantile(ascending, 0.5), P99: quantile(ascending, 0.99),
		P999: quantile(ascending, 0.999), Max: quantile(ascending, 1),
	}
}

// undisturbed measures the time of a request when the server does not stall:
// round trips of a blocking socket on the generator's core, one at a time, at
// the rate of the test. It involves no event loop and no histogram.
func undisturbed(core int, address string, rate float64, n int) ([]time.Duration, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, pinned unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, err
	}
	pinned.Set(core)
	if err := unix.SchedSetaffinity(0, &pinned); err != nil {
		return nil, err
	}
	defer unix.SchedSetaffinity(0, &before)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}); err != nil {
		return nil, err
	}
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	request := []byte("GET / HTTP/1.1\r\nHost: " + address + "\r\n\r\n")
	answer := make([]byte, 4096)
	var trips []time.Duration
	for range n {
		time.Sleep(time.Duration(float64(time.Second) / rate))
		begin := serve.Monotonic()
		if _, err := unix.Write(fd, request); err != nil {
			return nil, err
		}
		if got, err := unix.Read(fd, answer); err != nil || got != len(serve.StallAnswer) {
			return nil, fmt.Errorf("round trip of the stalling server: %d bytes, %w", got, err)
		}
		trips = append(trips, serve.Monotonic()-begin)
	}
	return trips, nil
}
