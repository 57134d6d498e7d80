// Command ring-history keeps who rang at which door. Each ring is kept, and each
// answer counts the door's rings among all that were ever kept.
package main

import (
	"fmt"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"
)

type ring struct {
	door int
	at   time.Time
}

type history struct {
	mu    sync.RWMutex
	rings []ring
}

func (h *history) add(door int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rings = append(h.rings, ring{door, time.Now()})
}

func (h *history) count(door int) (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for i := range h.rings {
		if h.rings[i].door == door {
			n++
		}
	}
	return n
}

func main() {
	h := &history{}
	http.HandleFunc("/ring", func(w http.ResponseWriter, r *http.Request) {
		door, err := strconv.Atoi(r.FormValue("door"))
		if err != nil {
			http.Error(w, "no such door", http.StatusBadRequest)
			return
		}
		h.add(door)
		fmt.Fprintln(w, h.count(door))
	})
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9892", nil))
}
