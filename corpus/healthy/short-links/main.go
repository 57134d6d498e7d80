// Command short-links redirects short links. There is nothing to it but the
// server.
package main

import (
	"log"
	"net/http"
	"strconv"
)

type links map[string]string

func (l links) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to, ok := l[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusMovedPermanently)
}

func main() {
	l := links{}
	for i := range 5000 {
		l["/q"+strconv.Itoa(i)] = "https://example.org/articles/" + strconv.Itoa(i)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:9730", l))
}
