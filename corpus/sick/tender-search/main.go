// Command tender-search finds public tenders by words.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/tender-search/search"
)

type api struct {
	catalogue *search.Catalogue
}

func (a api) find(w http.ResponseWriter, r *http.Request) {
	hits := a.catalogue.Find(r.URL.Query().Get("q"), 20)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"hits": hits, "count": len(hits)})
}

func (a api) publish(w http.ResponseWriter, r *http.Request) {
	var t search.Tender
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<10)).Decode(&t); err != nil || t.Title == "" {
		http.Error(w, "a tender has a title", http.StatusBadRequest)
		return
	}
	a.catalogue.Publish(t)
	w.WriteHeader(http.StatusAccepted)
}

func main() {
	every := 200 * time.Millisecond
	if os.Getenv("FIXED") == "1" {
		every = time.Minute
	}
	c := search.Fill(50000)
	c.Refresh(every)
	a := api{c}
	r := mux.NewRouter()
	r.HandleFunc("/tenders", a.find).Methods(http.MethodGet)
	r.HandleFunc("/tenders", a.publish).Methods(http.MethodPost)
	r.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:21317", r))
}
