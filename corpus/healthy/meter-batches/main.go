// Command meter-batches stores the readings of heat meters. One goroutine writes all
// that has come since its last transaction with the next one.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/corpus/healthy/meter-batches/tape"
)

func store(t *tape.Tape) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in tape.Reading
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Meter == 0 {
			http.Error(w, "a reading has a meter", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
		defer cancel()
		if err := t.Append(ctx, in); err != nil {
			log.Println("append:", err)
			http.Error(w, "not stored", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func latest(t *tape.Tape) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		kwh, err := t.Latest(r.Context(), r.PathValue("meter"))
		if err != nil {
			http.Error(w, "no reading", http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"meter": r.PathValue("meter"), "kwh": kwh})
	}
}

func main() {
	dir, err := os.MkdirTemp("", "meter-batches-")
	if err != nil {
		log.Fatal(err)
	}
	t, err := tape.Open(filepath.Join(dir, "meters.db"))
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /readings", store(t))
	mux.HandleFunc("GET /meters/{meter}/latest", latest(t))
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:21336", mux))
}
