// Package web has the routes.
package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/relay-receipts/internal/receipts"
)

// Book writes receipts.
type Book interface {
	Write(counter int, from string, cents int64) (receipts.Receipt, error)
}

// Routes returns the routes.
func Routes(b Book, log zerolog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /counters/{counter}/receipts", func(w http.ResponseWriter, r *http.Request) {
		counter, err := strconv.Atoi(r.PathValue("counter"))
		var in struct {
			From  string
			Cents int64
		}
		if err == nil {
			err = json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rec, err := b.Write(counter, in.From, in.Cents)
		if errors.Is(err, receipts.ErrAmount) {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		if err != nil {
			log.Error().Err(err).Int("counter", counter).Msg("write")
			http.Error(w, "journal", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(rec)
	})
	return mux
}
