// Command silo-feeds answers what grain silos were fed. Each answer carries the heap in use, and
// once a second the service logs its memory statistics.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"
)

const silos = 64

type delivery struct {
	Day    int `json:"day"`
	Tonnes int `json:"tonnes"`
}

type yard struct {
	deliveries [silos][]delivery
}

func newYard() *yard {
	y := &yard{}
	for i := range y.deliveries {
		for day := range 365 {
			y.deliveries[i] = append(y.deliveries[i], delivery{day, (day*i + 7) % 40})
		}
	}
	return y
}

// heap reads one figure, and stops nobody.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// report stops the world once a second, for some ten microseconds.
func report() {
	for range time.Tick(time.Second) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		log.Printf("heap %d, objects %d, collections %d", m.HeapAlloc, m.HeapObjects, m.NumGC)
	}
}

func (y *yard) feeds(w http.ResponseWriter, r *http.Request) {
	silo, err := strconv.Atoi(r.PathValue("silo"))
	if err != nil || silo < 0 || silo >= silos {
		http.Error(w, "no such silo", http.StatusNotFound)
		return
	}
	all := y.deliveries[silo]
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(struct {
		Feeds []delivery `json:"feeds"`
		Heap  uint64     `json:"heap"`
	}{all[len(all)-24:], heap()}); err != nil {
		log.Print(err)
	}
}

func main() {
	y := newYard()
	go report()
	http.HandleFunc("GET /silos/{silo}", y.feeds)
	log.Fatal(http.ListenAndServe("127.0.0.1:9985", nil))
}
