// Command visit-counts reports how often the keenest visitor of a page saw it.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/gorilla/mux"
)

type visit struct {
	visitor [16]byte
	page    uint32
}

type journal []visit

func tally(j journal) int {
	seen := map[visit]int{}
	for _, v := range j {
		seen[v]++
	}
	most := 0
	for _, n := range seen {
		most = max(most, n)
	}
	return most
}

func main() {
	j := make(journal, 6000)
	for i := range j {
		j[i] = visit{visitor: [16]byte{byte(i), byte(i >> 8), 3}, page: uint32(i % 900)}
	}
	r := mux.NewRouter()
	r.HandleFunc("/report", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tally(j)) })
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9714", r))
}
