// Command score-stream lists the evening's scores.
package main

import (
	"log"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type stadium struct{ results []int }

func (s *stadium) scores(w http.ResponseWriter, r *http.Request) {
	flusher := w.(http.Flusher)
	line := make([]byte, 0, 32)
	for _, v := range s.results {
		line = append(strconv.AppendInt(line[:0], int64(v), 10), '\n')
		w.Write(line)
		flusher.Flush()
	}
}

func main() {
	s := &stadium{results: make([]int, 120)}
	for i := range s.results {
		s.results[i] = i * 31 % 97
	}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/scores", s.scores)
	r.Get("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9719", r))
}
