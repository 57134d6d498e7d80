// Package climate has the state of greenhouses.
package climate

import (
	"context"
	"fmt"
	"regexp"
	"sort"
	"sync"
	"time"
)

var crop = regexp.MustCompile(`^(tomato|pepper|cucumber)(-[a-z]{2,12})?$`)

// Reading is what a sensor says.
type Reading struct {
	Crop    string  `json:"crop"`
	Celsius float64 `json:"celsius"`
	Humid   float64 `json:"humid"`
}

// Valid says whether the reading can be true.
func (r Reading) Valid() bool {
	return crop.MatchString(r.Crop) && r.Celsius > -20 && r.Celsius < 60 && r.Humid >= 0 && r.Humid <= 100
}

type house struct {
	mu   sync.Mutex
	last []Reading
	open float64
}

// Houses has all houses.
type Houses struct {
	mu  sync.RWMutex
	all map[string]*house
	hot []string
}

// NewHouses builds n houses.
func NewHouses(n int) *Houses {
	h := &Houses{all: map[string]*house{}}
	for i := range n {
		h.all[fmt.Sprintf("h%d", i)] = &house{}
	}
	return h
}

// Watch lists the hot houses four times a second.
func (h *Houses) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(250 * time.Millisecond)
		h.rank()
	}
}

func (h *Houses) rank() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hot = h.hot[:0]
	for name, s := range h.all {
		s.mu.Lock()
		if s.open > 0.5 {
			h.hot = append(h.hot, name)
		}
		s.mu.Unlock()
	}
	sort.Strings(h.hot)
}

// Hot returns the hot houses.
func (h *Houses) Hot() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return append([]string{}, h.hot...)
}

// Take takes a reading, and returns how far the windows open.
func (h *Houses) Take(name string, r Reading) (float64, bool) {
	h.mu.RLock()
	s, ok := h.all[name]
	h.mu.RUnlock()
	if !ok {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) == 60 {
		copy(s.last, s.last[1:])
		s.last = s.last[:59]
	}
	s.last = append(s.last, r)
	var c float64
	for _, x := range s.last {
		c += x.Celsius
	}
	s.open = min(1, max(0, (c/float64(len(s.last))-22)/10))
	return s.open, true
}
