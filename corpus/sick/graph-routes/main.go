// Command graph-routes finds hops through a road network of millions of small
// objects that point at each other. All of it is marked again in every collection,
// which is what the service mostly does.
package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/gorilla/mux"
)

type junction struct {
	id    int32
	roads []*road
}

type road struct {
	to    *junction
	metre float64
	name  *string
}

type network struct{ junctions map[int32]*junction }

func survey(n int) *network {
	g := &network{junctions: make(map[int32]*junction, n)}
	all := make([]*junction, n)
	for i := range all {
		all[i] = &junction{id: int32(i)}
		g.junctions[int32(i)] = all[i]
	}
	for i, j := range all {
		for k := range 3 {
			name := fmt.Sprint("A", k)
			j.roads = append(j.roads, &road{to: all[(i*7+k*131)%n], metre: float64(i % 900), name: &name})
		}
	}
	return g
}

type trip struct {
	stops  []int32
	metres []float64
}

func (g *network) walk(from int32, hops int) trip {
	t := trip{stops: make([]int32, 0, 12<<10), metres: make([]float64, 0, 4<<10)}
	for at := g.junctions[from]; len(t.stops) < hops; {
		r := at.roads[rand.IntN(len(at.roads))]
		t.stops, t.metres = append(t.stops, r.to.id), append(t.metres, r.metre)
		at = r.to
	}
	return t
}

func (t trip) profile() []float32 {
	heights := make([]float32, 10<<10)
	for i, m := range t.metres {
		heights[i*8] = float32(m)
	}
	return heights
}

func tiles(heights []float32) [][]byte {
	out := make([][]byte, 0, 4)
	for i := range 4 {
		b := make([]byte, 12<<10)
		b[0] = byte(heights[i])
		out = append(out, b)
	}
	return out
}

func page(t trip, tiles [][]byte) []byte {
	out := make([]byte, 0, 40<<10)
	for i, s := range t.stops {
		out = append(out, 'J', byte('0'+s%10), tiles[i%len(tiles)][0]&7+'a', '\n')
	}
	return out
}

func main() {
	g := survey(1_500_000)
	r := mux.NewRouter()
	r.HandleFunc("/route", func(w http.ResponseWriter, _ *http.Request) {
		t := g.walk(rand.Int32N(int32(len(g.junctions))), 24)
		_, _ = w.Write(page(t, tiles(t.profile())))
	})
	if err := http.ListenAndServe("127.0.0.1:9611", r); err != nil {
		panic(err)
	}
}
