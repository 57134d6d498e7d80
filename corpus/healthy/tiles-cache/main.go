// Command tiles-cache serves map tiles out of four hundred megabytes
// that it holds in fifty large blocks without a pointer in them.
package main

import (
	"log"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
)

const tile = 2 << 10

type atlas struct{ sheets [][]byte }

func load(sheets, size int) *atlas {
	a := &atlas{}
	for range sheets {
		sheet := make([]byte, size)
		for i := 0; i < size; i += 512 {
			sheet[i] = byte(rand.Uint32())
		}
		a.sheets = append(a.sheets, sheet)
	}
	return a
}

func (a *atlas) tile(n int) []byte {
	sheet := a.sheets[n%len(a.sheets)]
	at := n % (len(sheet) / tile) * tile
	return sheet[at : at+tile]
}

func main() {
	a := load(50, 8<<20)
	r := chi.NewRouter()
	r.Get("/tiles/{n}", func(w http.ResponseWriter, req *http.Request) {
		n, err := strconv.Atoi(chi.URLParam(req, "n"))
		if err != nil || n < 0 {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(a.tile(n))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9651", r))
}
