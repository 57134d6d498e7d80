// Package night keeps the observations of a night.
package night

import (
	"slices"
	"sync"
	"time"
)

// Observation is an exposure of an instrument.
type Observation struct {
	Number     int64     `json:"number"`
	Target     string    `json:"target"`
	Instrument string    `json:"instrument"`
	At         time.Time `json:"at"`
	Seconds    float64   `json:"seconds"`
	Ascension  float64   `json:"ascension"`
	Declining  float64   `json:"declination"`
	Seeing     float64   `json:"seeing"`
	Remarks    []string  `json:"remarks,omitempty"`
}

// Journal keeps the latest observations. One mutex guards it.
type Journal struct {
	mu    sync.Mutex
	keep  int
	last  int64
	list  []Observation
	kinds map[string]int
}

// NewJournal keeps that many observations, and begins with some of them.
func NewJournal(keep int) *Journal {
	j := &Journal{keep: keep, kinds: map[string]int{}}
	for i := range keep {
		j.Add(Observation{
			Target: "NGC " + string(rune('1'+i%9)) + "024", Instrument: []string{"camera", "spectrograph"}[i%2],
			At: time.Now(), Seconds: 30, Ascension: float64(i%24) + 0.375, Declining: float64(i%90) - 30.5, Seeing: 1.1,
			Remarks: []string{"guided", "thin cirrus in the west"},
		})
	}
	return j
}

// Add numbers an observation and keeps it.
func (j *Journal) Add(o Observation) Observation {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	o.Number = j.last
	j.kinds[o.Instrument]++
	if len(j.list) == j.keep {
		copy(j.list, j.list[1:])
		j.list = j.list[:j.keep-1]
	}
	j.list = append(j.list, o)
	return o
}

// All returns what is kept, the oldest first.
func (j *Journal) All() []Observation {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

// After returns what is kept of numbers above n.
func (j *Journal) After(n int64) []Observation {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, _ := slices.BinarySearchFunc(j.list, n+1, func(o Observation, n int64) int { return int(o.Number - n) })
	return slices.Clone(j.list[i:])
}

// Counts returns how many observations each instrument has made.
func (j *Journal) Counts() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	counts := make(map[string]int, len(j.kinds))
	for k, n := range j.kinds {
		counts[k] = n
	}
	return counts
}
