// Command trend-radar shows which posts of a forum are on the rise.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	refresh := 25 * time.Millisecond
	if os.Getenv("FIXED") != "" {
		refresh = 10 * time.Second
	}
	radar := NewRadar(Config{Posts: 400_000, Boards: 8, Refresh: refresh})
	defer radar.Close()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /trends/{board}", func(w http.ResponseWriter, r *http.Request) {
		board, err := strconv.Atoi(r.PathValue("board"))
		if err != nil || board < 0 {
			http.Error(w, "board", http.StatusBadRequest)
			return
		}
		top := radar.Top(board, 15)
		if top == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(top); err != nil {
			log.Print(err)
		}
	})
	mux.HandleFunc("POST /posts/{id}/votes", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil || !radar.Vote(id) {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := http.Server{Addr: "127.0.0.1:9214", Handler: mux, ReadHeaderTimeout: 3 * time.Second}
	log.Print(srv.ListenAndServe())
}
