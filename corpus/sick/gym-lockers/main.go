// Command gym-lockers opens lockers for the terminals of gyms.
package main

import (
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/gym-lockers/internal/auth"
	"github.com/redline-go/redline/corpus/sick/gym-lockers/internal/locker"
)

func main() {
	keys := auth.NewKeys(30)
	var checker auth.Checker = keys
	if os.Getenv("FIXED") == "1" {
		checker = auth.Remember(keys, 10*time.Minute)
	}
	r := mux.NewRouter()
	r.HandleFunc("/up", func(http.ResponseWriter, *http.Request) {})
	api := r.PathPrefix("/gyms/{gym:[0-9]+}").Subrouter()
	api.Use(auth.Middleware(checker))
	locker.NewHandler(locker.NewWall(200)).Register(api)
	log.Fatal(http.ListenAndServe("127.0.0.1:23415", r))
}
