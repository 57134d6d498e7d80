// Command museum-objects serves the inventory cards of a museum.
package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type card struct {
	id         int
	title      string
	provenance []string
}

type collection []card

func load() collection {
	places := []string{"Aleppo", "Bergen", "Cusco", "Delft", "Esfahan", "Florence", "Ghent"}
	kinds := []string{"bowl", "relief", "coin", "textile", "amulet"}
	c := make(collection, 1200)
	for i := range c {
		c[i] = card{id: i, title: fmt.Sprintf("%s from %s", kinds[i%len(kinds)], places[i%len(places)])}
		for p := range 6 {
			c[i].provenance = append(c[i].provenance, fmt.Sprintf("%d: %s, lot %d", 1780+p*31, places[(i+p)%len(places)], i*p%311))
		}
	}
	return c
}

// packed is a response whose body goes through a gzip stream.
type packed struct {
	http.ResponseWriter
	out io.Writer
}

func (p packed) Write(b []byte) (int, error) { return p.out.Write(b) }

type middleware func(http.Handler) http.Handler

func chain(h http.Handler, ms ...middleware) http.Handler {
	for i := len(ms) - 1; i >= 0; i-- {
		h = ms[i](h)
	}
	return h
}

func compressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		zw, err := gzip.NewWriterLevel(w, gzip.DefaultCompression)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer zw.Close()
		next.ServeHTTP(packed{w, zw}, r)
	})
}

func compressedFromPool(next http.Handler) http.Handler {
	writers := sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		zw := writers.Get().(*gzip.Writer)
		zw.Reset(w)
		defer writers.Put(zw)
		defer zw.Close()
		next.ServeHTTP(packed{w, zw}, r)
	})
}

func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=30")
		next.ServeHTTP(w, r)
	})
}

func (c collection) show(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || n < 0 || n >= len(c) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, c[n].title+"\n"+strings.Join(c[n].provenance, "\n")+"\n")
}

func main() {
	objects := load()
	zip := compressed
	if os.Getenv("FIXED") == "1" {
		zip = compressedFromPool
	}
	mux := http.NewServeMux()
	mux.Handle("GET /objects/{id}", chain(http.HandlerFunc(objects.show), private, zip))
	mux.HandleFunc("GET /up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	log.Fatal(http.ListenAndServe("127.0.0.1:9820", mux))
}
