// Package network knows the terminals and the ways between them.
package network

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// ErrNoWay says that two places are not connected.
var ErrNoWay = errors.New("no way")

// Place is a terminal.
type Place struct {
	Code, Name string
	x, y       float64
}

type way struct {
	to int
	km float64
}

// Graph is all terminals with the ways that leave them.
type Graph struct {
	places []Place
	ways   [][]way
	byCode map[string]int
}

// Grid makes a graph of n by n terminals.
func Grid(n int) *Graph {
	g := &Graph{byCode: make(map[string]int, n*n), ways: make([][]way, n*n)}
	for i := range n * n {
		p := Place{Code: fmt.Sprintf("T%04d", i), Name: fmt.Sprintf("Terminal %d-%d", i/n, i%n),
			x: float64(i%n) + float64(i*13%7)/10, y: float64(i/n) + float64(i*29%11)/14}
		g.places = append(g.places, p)
		g.byCode[p.Code] = i
	}
	link := func(a, b int) {
		km := 40 * math.Hypot(g.places[a].x-g.places[b].x, g.places[a].y-g.places[b].y)
		g.ways[a] = append(g.ways[a], way{b, km})
		g.ways[b] = append(g.ways[b], way{a, km})
	}
	for i := range n * n {
		if i%n < n-1 {
			link(i, i+1)
		}
		if i/n < n-1 {
			link(i, i+n)
		}
		if i%n < n-1 && i/n < n-1 && i%5 == 0 {
			link(i, i+n+1)
		}
	}
	return g
}

// Places lists the terminals in the order of their codes.
func (g *Graph) Places() []Place { return g.places }

// Index finds a terminal by its code.
func (g *Graph) Index(code string) (int, bool) {
	i, ok := g.byCode[code]
	return i, ok
}

// Tree is the shortest ways from one terminal to all others.
type Tree struct {
	km   []float64
	back []int32
}

type item struct {
	at int
	km float64
}
type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].km < q[j].km }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

func (g *Graph) tree(from int) *Tree {
	t := &Tree{km: make([]float64, len(g.places)), back: make([]int32, len(g.places))}
	for i := range t.km {
		t.km[i], t.back[i] = math.Inf(1), -1
	}
	t.km[from] = 0
	q := &queue{{from, 0}}
	for q.Len() > 0 {
		it := heap.Pop(q).(item)
		if it.km > t.km[it.at] {
			continue
		}
		for _, w := range g.ways[it.at] {
			if km := it.km + w.km; km < t.km[w.to] {
				t.km[w.to], t.back[w.to] = km, int32(it.at)
				heap.Push(q, item{w.to, km})
			}
		}
	}
	return t
}

// Router finds ways through a graph and remembers the trees it has computed.
type Router struct {
	Graph *Graph
	Speed float64
	trees map[int]*Tree
}

// Remember returns a router whose trees are kept in m.
func (r Router) Remember(m map[int]*Tree) Router {
	r.trees = m
	return r
}

func (r Router) from(i int) *Tree {
	if t, ok := r.trees[i]; ok {
		return t
	}
	t := r.Graph.tree(i)
	if r.trees == nil {
		r.trees = make(map[int]*Tree)
	}
	r.trees[i] = t
	return t
}

// Way lists the terminals on the shortest way from a to b, both included, and its length.
func (r Router) Way(a, b int) ([]int, float64, error) {
	t := r.from(a)
	if math.IsInf(t.km[b], 1) {
		return nil, 0, ErrNoWay
	}
	way := []int{b}
	for at := b; at != a; at = way[len(way)-1] {
		way = append(way, int(t.back[at]))
	}
	slices.Reverse(way)
	return way, t.km[b], nil
}

// Finder finds ways.
type Finder interface {
	Way(a, b int) ([]int, float64, error)
}

// Guarded is a Finder for many goroutines.
type Guarded struct {
	mu   sync.Mutex
	next Router
}

// NewGuarded guards a router over g.
func NewGuarded(g *Graph) *Guarded {
	return &Guarded{next: Router{Graph: g}.Remember(make(map[int]*Tree))}
}

func (g *Guarded) Way(a, b int) ([]int, float64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.next.Way(a, b)
}
