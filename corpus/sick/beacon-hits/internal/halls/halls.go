// Package halls has the sums of beacons.
package halls

import "sync"

// Sum is what is known about a beacon.
type Sum struct {
	Visits  int `json:"visits"`
	Seconds int `json:"seconds"`
}

type hall struct {
	mu   sync.Mutex
	sums map[int]Sum
	_    [40]byte
}

// Halls has the sums of all beacons, spread over locks.
type Halls []hall

// New makes sums with n locks.
func New(n int) Halls {
	h := make(Halls, n)
	for i := range h {
		h[i].sums = map[int]Sum{}
	}
	return h
}

// Add adds a visit.
func (h Halls) Add(beacon, seconds int) Sum {
	k := &h[uint(beacon)%uint(len(h))]
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sums[beacon]
	s.Visits++
	s.Seconds += seconds
	k.sums[beacon] = s
	return s
}
