// Command turnstile-totals counts the entries that turnstiles report in batches.
package main

import (
	"log"
	"net/http"
	"strconv"
	"sync/atomic"
)

type gate struct {
	entered atomic.Int64
	peak    atomic.Int64
}

func (g *gate) admit(group int64) {
	if now := g.entered.Add(group); now > g.peak.Load() {
		g.peak.Store(now)
	}
}

func (g *gate) batch(w http.ResponseWriter, _ *http.Request) {
	for i := range int64(8000) {
		g.admit(i & 3)
	}
	w.Write(strconv.AppendInt(nil, g.peak.Load(), 10))
}

func main() {
	g := &gate{}
	mux := http.NewServeMux()
	mux.HandleFunc("/batch", g.batch)
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9723", mux))
}
