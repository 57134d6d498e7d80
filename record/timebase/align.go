package timebase

import "time"

// Align is a distribution of alignment errors.
type Align struct {
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
}
