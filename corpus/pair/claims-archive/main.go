// Command claims-archive packs claims for download, with account numbers struck
// out.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"net/http"
	"regexp"
	"sync"

	"github.com/julienschmidt/httprouter"
)

func redact(line, word string) string {
	return regexp.MustCompile(`\b`+word+`-[0-9]{4}\b`).ReplaceAllString(line, "****")
}

var packers = sync.Pool{New: func() any { z, _ := gzip.NewWriterLevel(nil, 9); return z }}

func archive(claims []string) httprouter.Handle {
	return func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		var out bytes.Buffer
		z := packers.Get().(*gzip.Writer)
		defer packers.Put(z)
		z.Reset(&out)
		for i, c := range claims {
			if i%2 == 0 {
				c = redact(c, "acct")
			}
			z.Write([]byte(c))
		}
		z.Close()
		w.Write(out.Bytes())
	}
}

func main() {
	var claims []string
	for i := range 500 {
		claims = append(claims, fmt.Sprintf("claim %d of acct-%04d: windscreen, paid %d.%02d on day %d\n",
			i*7919%1000, i, i*31%900, i%100, i%28))
	}
	r := httprouter.New()
	r.GET("/archive", archive(claims))
	r.GET("/healthz", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9726", r))
}
