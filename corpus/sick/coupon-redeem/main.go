// Command coupon-redeem redeems coupons behind a middleware that keeps a record
// of what each request carried.
package main

import (
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
)

func traced(records *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		with := records.With("method", r.Method, "path", r.URL.Path, "peer", r.RemoteAddr)
		for name, values := range r.Header {
			with.Info("header", "name", name, "values", values)
		}
		next.ServeHTTP(w, r)
		with.Info("answered")
	})
}

func main() {
	file, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /redeem/{code}", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "redeemed "+r.PathValue("code"))
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	outer.Handle("/", traced(slog.New(slog.NewJSONHandler(file, nil)), routes))
	log.Fatal(http.ListenAndServe("127.0.0.1:9710", outer))
}
