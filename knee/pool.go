package knee

import (
	"math"
	"time"
)

// Pool sizes a resource that every request holds for its whole service time: a pool
// of connections or workers, or a concurrency limit.
type Pool struct {
	// Service is the mean service time without a queue, in ns.
	Service int64 `json:"service_ns"`
	// Rate is the knee's, 1/s.
	Rate float64 `json:"rate"`
	// Little is rate x service time: how many are in use at the knee (J. D. C. Little,
	// Operations Research 9 (1961), 383-387). Size is that less the 1 % by
	// which two rates may be apart, rounded up.
	Little float64 `json:"little"`
	Size   int     `json:"size"`
	// Folklore is rate x (service time in ms + 50) / 1000. Its 50 ms have no basis in
	// a measurement.
	Folklore float64 `json:"folklore"`
	// Swept is the concurrency beyond which throughput no longer rose in the sweep; 0 without
	// one.
	Swept int `json:"swept,omitempty"`
}

// risen is the part of the largest throughput that counts as the maximum.
const risen = 0.95

// sizePool sizes a pool for a rate. up holds the rising steps of a sweep.
func sizePool(rate float64, service time.Duration, up []Step) *Pool {
	if !(rate > 0) || service <= 0 {
		return nil
	}
	p := &Pool{Service: int64(service), Rate: rate, Little: rate * service.Seconds()}
	p.Size = int(math.Ceil(p.Little - apart*p.Little))
	p.Folklore = rate * (1e3*service.Seconds() + 50) / 1000
	most := 0.0
	for _, s := range up {
		most = max(most, s.Served)
	}
	for _, s := range up {
		if s.Served >= risen*most {
			p.Swept = s.Connections
			break
		}
	}
	return p
}
