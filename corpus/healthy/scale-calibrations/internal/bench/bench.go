// Package bench judges protocols.
package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/redline-go/redline/corpus/healthy/scale-calibrations/internal/protocol"
)

// Rule is the tolerance of a class.
type Rule interface {
	Tolerance(load float64) float64
}

type proportional float64

func (p proportional) Tolerance(load float64) float64 { return load * float64(p) }

type stepped []float64

func (s stepped) Tolerance(load float64) float64 { return s[min(len(s)-1, int(load/500))] }

// Bench has the rules and what it saw.
type Bench struct {
	mu    sync.RWMutex
	rules map[string]Rule
	seen  map[string]int
	order []string
}

// New makes a bench.
func New() *Bench {
	return &Bench{rules: map[string]Rule{"II": proportional(0.0002), "III": stepped{0.5, 1, 1.5}}, seen: map[string]int{}}
}

func (b *Bench) count(scale string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.seen[scale]; !ok {
		i, _ := slices.BinarySearch(b.order, scale)
		b.order = slices.Insert(b.order, i, scale)
	}
	b.seen[scale]++
	return b.seen[scale]
}

// Judge judges a protocol.
func (b *Bench) Judge(p *protocol.Protocol) (*protocol.Verdict, error) {
	b.mu.RLock()
	rule, ok := b.rules[p.Class]
	b.mu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("class %s is not known", strconv.Quote(p.Class))
	}
	v := &protocol.Verdict{Scale: p.Scale, Pass: true, Checks: b.count(p.Scale)}
	worst := 0.0
	for _, x := range p.Points {
		off := math.Abs(x.Read - x.Load)
		if off > rule.Tolerance(x.Load) {
			v.Pass = false
		}
		if off >= worst {
			worst, v.Worst = off, fmt.Sprintf("%.3f at %.1f", off, x.Load)
		}
	}
	return v, nil
}
