// Command ticker-window replays ticks through a sliding window.
package main

import (
	"log"
	"net/http"
	"strconv"
	"sync"

	"github.com/julienschmidt/httprouter"
)

type window struct {
	values []float64
	sum    float64
}

func (w *window) push(v float64) {
	w.sum += v - w.values[0]
	copy(w.values, w.values[1:])
	w.values[len(w.values)-1] = v
}

var windows = sync.Pool{New: func() any { return &window{values: make([]float64, 8192)} }}

func main() {
	r := httprouter.New()
	r.GET("/replay", func(rw http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w := windows.Get().(*window)
		defer windows.Put(w)
		for i := range 200 {
			w.push(float64(i) / 3)
		}
		rw.Write(strconv.AppendFloat(nil, w.sum, 'f', 2, 64))
	})
	r.GET("/healthz", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9717", r))
}
