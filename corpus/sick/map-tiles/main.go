// Command map-tiles serves the style sheets of a map, compressed as they go out.
package main

import (
	"compress/gzip"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
)

var writers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestCompression)
	return z
}}

type zipped struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (w zipped) Write(p []byte) (int, error) { return w.z.Write(p) }

func compressed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		z := writers.Get().(*gzip.Writer)
		defer writers.Put(z)
		z.Reset(w)
		w.Header().Set("Content-Encoding", "gzip")
		next(zipped{w, z}, r)
		z.Close()
	}
}

func main() {
	var style strings.Builder
	for i := range 700 {
		fmt.Fprintf(&style, "layer-%d { color: #%06x; width: %dpx; opacity: 0.%d }\n", i, i*7919%0xffffff, i%13, i%9)
	}
	sheet := []byte(style.String())
	mux := http.NewServeMux()
	mux.HandleFunc("/styles/{name}", compressed(func(w http.ResponseWriter, _ *http.Request) { w.Write(sheet) }))
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9708", mux))
}
