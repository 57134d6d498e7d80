// Command tenant-gateway has routes for each tenant.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/gorilla/mux"
)

func limits(tenant string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", tenant, mux.Vars(r)["plan"])
	}
}

func main() {
	r := mux.NewRouter()
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	for i := range 350 {
		tenant := fmt.Sprintf("zeta-%d", i)
		r.HandleFunc("/t/"+tenant+"/limits/{plan:[0-9]+}", limits(tenant)).Methods(http.MethodGet)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:9720", r))
}
