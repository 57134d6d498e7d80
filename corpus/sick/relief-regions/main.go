// Command relief-regions draws relief maps. Drawings in progress are shared
// through a map of its own, whose key is the region and not the tile:
// whoever wants any tile of the region waits for the region to be drawn.
package main

import (
	"log"
	"net/http"
	"sync"

	"github.com/gorilla/mux"
)

type drawing struct {
	finished chan struct{}
	pixels   []byte
}

type atlas struct {
	mu       sync.Mutex
	underway map[string]*drawing
}

// region returns the region's pixels, drawn by whoever came first.
func (a *atlas) region(name string) []byte {
	a.mu.Lock()
	if d, ok := a.underway[name]; ok {
		a.mu.Unlock()
		<-d.finished
		return d.pixels
	}
	d := &drawing{finished: make(chan struct{})}
	a.underway[name] = d
	a.mu.Unlock()
	d.pixels = draw(name)
	a.mu.Lock()
	delete(a.underway, name)
	a.mu.Unlock()
	close(d.finished)
	return d.pixels
}

func draw(name string) []byte {
	pixels := make([]byte, 256*256)
	seed := float64(len(name))
	for i := range pixels {
		x, y := float64(i%256)/96-2, float64(i/256)/96-1.3
		cx, cy, n := x, y, 0
		for ; n < 140 && x*x+y*y < 4; n++ {
			x, y = x*x-y*y+cx, 2*x*y+cy+seed/1e6
		}
		pixels[i] = byte(n)
	}
	return pixels
}

func main() {
	a := &atlas{underway: map[string]*drawing{}}
	r := mux.NewRouter()
	r.HandleFunc("/{region}/{x}/{y}", func(w http.ResponseWriter, r *http.Request) {
		pixels := a.region(mux.Vars(r)["region"])
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(pixels[:1024])
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9412", r))
}
