// Command recommendation-refresh answers which articles go together. Twice a
// second it computes all of that anew on as many goroutines as there are shelves,
// and while it does, answers stand in the queue for a CPU.
package main

import (
	"log"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"
)

const articles, factors = 1600, 24

type model struct {
	vectors [articles][factors]float64
	similar [articles]atomic.Int32
}

// relate finds the nearest of every article of a shelf.
func (m *model) relate(from, to int) {
	for a := from; a < to; a++ {
		best, nearest := math.Inf(-1), 0
		for b := range m.vectors {
			if a == b {
				continue
			}
			dot := 0.0
			for f := range factors {
				dot += m.vectors[a][f] * m.vectors[b][f]
			}
			if dot > best {
				best, nearest = dot, b
			}
		}
		m.similar[a].Store(int32(nearest))
	}
}

func (m *model) refresh() {
	var shelves sync.WaitGroup
	const size = articles / 16
	for from := 0; from < articles; from += size {
		shelves.Go(func() { m.relate(from, from+size) })
	}
	shelves.Wait()
}

func main() {
	m := &model{}
	for a := range m.vectors {
		for f := range factors {
			m.vectors[a][f] = math.Sin(float64(a*31 + f*17))
		}
	}
	go func() {
		for range time.Tick(450 * time.Millisecond) {
			m.refresh()
			m.refresh()
		}
	}()
	r := httprouter.New()
	r.GET("/similar/:article", func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
		n, _ := strconv.Atoi(ps.ByName("article"))
		_, _ = w.Write(strconv.AppendInt(nil, int64(m.similar[n%articles].Load()), 10))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9417", r))
}
