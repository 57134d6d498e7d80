package verify

import (
	"errors"
	"fmt"
	"math"
)

// Bounds of a block that is read, which may come from elsewhere.
const (
	mostValues  = 64
	lastBucket  = 8760 // of latencies: 2^63 ns
	mostCounted = 1 << 40
)

// Check returns why a block must not be compared, whoever wrote it: it does not count,
// has values that cannot have been measured, or more of them than a block can have. nil
// for a good one.
func (b Block) Check() error {
	if b.Void != "" {
		return errors.New("it does not count: " + b.Void)
	}
	if !(b.Errors >= 0 && b.Errors <= 1) {
		return fmt.Errorf("its share of failed requests is %v", b.Errors)
	}
	if len(b.Values) > mostValues {
		return fmt.Errorf("more than %d values", mostValues)
	}
	for name, v := range b.Values {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%.40q is %v, which is no measured value", name, v)
		}
	}
	if b.Values[MachineYardstick] == 0 {
		return errors.New("the machine's speed was not measured alongside")
	}
	total := int64(0)
	for bucket, n := range b.Latency {
		if bucket < 0 || bucket > lastBucket || n < 0 || n > mostCounted {
			return fmt.Errorf("%d latencies in bucket %d", n, bucket)
		}
		if total += n; total > mostCounted {
			return errors.New("more latencies than a block can hold")
		}
	}
	return nil
}

// Possible reports whether the buckets are those of latencies: code that adds them up
// takes memory by the span of their numbers.
func (l Latencies) Possible() bool {
	for bucket := range l {
		if bucket < 0 || bucket > lastBucket {
			return false
		}
	}
	return true
}
