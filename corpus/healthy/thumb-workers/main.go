// Command thumb-workers scales pictures on a pool of workers, one for each CPU,
// which is enough for the rate that it is asked at.
package main

import (
	"log"
	"net/http"
	"runtime"

	"github.com/gorilla/mux"
)

type job struct {
	seed  byte
	reply chan []byte
}

type workers struct{ jobs chan job }

func (w *workers) run() {
	for j := range w.jobs {
		j.reply <- scale(j.seed)
	}
}

func scale(seed byte) []byte {
	var source [128 * 128]byte
	for i := range source {
		source[i] = seed * byte(i)
	}
	out := make([]byte, 32*32)
	for y := range 32 {
		for x := range 32 {
			sum := 0
			for dy := range 4 {
				for dx := range 4 {
					sum += int(source[(4*y+dy)*128+4*x+dx])
				}
			}
			out[32*y+x] = byte(sum / 16)
		}
	}
	return out
}

func main() {
	w := &workers{make(chan job, 64)}
	for range runtime.GOMAXPROCS(0) {
		go w.run()
	}
	r := mux.NewRouter()
	r.HandleFunc("/thumbs/{name}", func(rw http.ResponseWriter, r *http.Request) {
		reply := make(chan []byte, 1)
		w.jobs <- job{byte(len(mux.Vars(r)["name"])), reply}
		_, _ = rw.Write(<-reply)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9429", r))
}
