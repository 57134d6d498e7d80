// Command recipe-nutrition answers what a recipe contains. It remembers the
// recipes that were asked for last; the others are added up, which takes little.
package main

import (
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/redline-go/redline/corpus/healthy/recipe-nutrition/pantry"
)

type facts struct {
	book   *pantry.Book
	kept   *lru.Cache[int, []byte]
	flight singleflight.Group
}

func (f *facts) of(id int) ([]byte, error) {
	if body, ok := f.kept.Get(id); ok {
		return body, nil
	}
	v, err, _ := f.flight.Do(strconv.Itoa(id), func() (any, error) {
		body, err := f.book.Label(id)
		if err == nil {
			f.kept.Add(id, body)
		}
		return body, err
	})
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

func (f *facts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(chi.URLParam(r, "id"))
	if err != nil {
		http.Error(w, "no number", http.StatusBadRequest)
		return
	}
	body, err := f.of(id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func main() {
	kept, err := lru.New[int, []byte](460)
	if err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	r.Method(http.MethodGet, "/recipes/{id}/nutrition", &facts{book: pantry.NewBook(500), kept: kept})
	srv := &http.Server{Addr: "127.0.0.1:21332", Handler: r}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	go func() { <-stop; _ = srv.Close() }()
	log.Println(srv.ListenAndServe())
}
