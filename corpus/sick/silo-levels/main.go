// Command silo-levels answers how full grain silos are. Each answer carries the heap in use, for a
// dashboard that nobody looks at any more.
package main

import (
	"encoding/json"
	"log"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
)

const silos = 64

type reading struct {
	Hour   int     `json:"hour"`
	Metres float64 `json:"metres"`
}

type plant struct {
	readings [silos][]reading
	usage    func() usage
}

func newPlant() *plant {
	p := &plant{usage: statistics}
	if os.Getenv("FIXED") == "1" {
		p.usage = figures
	}
	for i := range p.readings {
		for hour := range 24 * 30 {
			p.readings[i] = append(p.readings[i], reading{hour, 12 + 8*math.Sin(float64(hour+i)/17)})
		}
	}
	return p
}

type usage struct {
	Heap    uint64 `json:"heap"`
	Objects uint64 `json:"objects"`
}

func statistics() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{m.HeapAlloc, m.HeapObjects}
}

func figures() usage {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/objects:objects"}}
	metrics.Read(samples)
	return usage{samples[0].Value.Uint64(), samples[1].Value.Uint64()}
}

func (p *plant) levels(w http.ResponseWriter, r *http.Request) {
	silo, err := strconv.Atoi(r.PathValue("silo"))
	if err != nil || silo < 0 || silo >= silos {
		http.Error(w, "no such silo", http.StatusNotFound)
		return
	}
	last := p.readings[silo]
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(struct {
		Levels []reading `json:"levels"`
		Usage  usage     `json:"usage"`
	}{last[len(last)-24:], p.usage()}); err != nil {
		log.Print(err)
	}
}

func main() {
	p := newPlant()
	http.HandleFunc("GET /silos/{silo}", p.levels)
	log.Fatal(http.ListenAndServe("127.0.0.1:9984", nil))
}
