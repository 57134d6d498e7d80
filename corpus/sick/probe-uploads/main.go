// Command probe-uploads takes batches of samples from devices. A batch is decoded
// into loose maps, and once more to look at its envelope.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync/atomic"
)

var stored atomic.Int64

type envelope struct {
	Device  string           `json:"device"`
	Samples []map[string]any `json:"samples"`
}

func decodeBatch(raw []byte) (map[string]any, envelope, error) {
	var loose map[string]any
	if err := json.Unmarshal(raw, &loose); err != nil {
		return nil, envelope{}, err
	}
	var e envelope
	return loose, e, json.Unmarshal(raw, &e)
}

func ingest(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	loose, e, err := decodeBatch(raw)
	if err != nil || loose["device"] != e.Device {
		http.Error(w, "malformed batch", http.StatusUnprocessableEntity)
		return
	}
	fmt.Fprintf(w, "%d", stored.Add(int64(len(e.Samples))))
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ingest", ingest)
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9701", mux))
}
