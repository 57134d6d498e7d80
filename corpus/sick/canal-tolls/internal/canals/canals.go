// Package canals is the network of canals.
package canals

import "slices"

// Reach is a piece of canal between two basins.
type Reach struct {
	To    int
	Km    float64
	Locks int
	Width float64
}

// Network has the reaches from each basin.
type Network [][]Reach

// Ring is a network of n basins around a town, with some short cuts.
func Ring(n int) Network {
	net := make(Network, n)
	link := func(a, b int, r Reach) {
		r.To = b
		net[a] = append(net[a], r)
		r.To = a
		net[b] = append(net[b], r)
	}
	for i := range n {
		link(i, (i+1)%n, Reach{Km: 1.5 + float64(i%5), Locks: i % 3, Width: 5 + float64(i%4)})
		if i%3 == 0 {
			link(i, (i+n/5)%n, Reach{Km: 9 + float64(i%11), Locks: 4, Width: 4.5})
		}
	}
	return net
}

// Route returns the cheapest way that is wide enough.
func (net Network) Route(from, to int, beam float64, cost func(Reach) float64) (basins []int, sum float64, ok bool) {
	const far = 1e18
	dist := make([]float64, len(net))
	before := make([]int, len(net))
	done := make([]bool, len(net))
	for i := range dist {
		dist[i], before[i] = far, -1
	}
	dist[from] = 0
	for {
		at, best := -1, far
		for i, d := range dist {
			if !done[i] && d < best {
				at, best = i, d
			}
		}
		if at < 0 {
			return nil, 0, false
		}
		if at == to {
			break
		}
		done[at] = true
		for _, r := range net[at] {
			if r.Width < beam {
				continue
			}
			if d := best + cost(r); d < dist[r.To] {
				dist[r.To], before[r.To] = d, at
			}
		}
	}
	for at := to; at >= 0; at = before[at] {
		basins = append(basins, at)
	}
	slices.Reverse(basins)
	return basins, dist[to], true
}
