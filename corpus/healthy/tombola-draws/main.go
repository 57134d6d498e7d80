// Command tombola-draws draws the winners of tombolas.
package main

import (
	"log"
	"net/http"

	"github.com/redline-go/redline/corpus/healthy/tombola-draws/internal/drum"
	"github.com/redline-go/redline/corpus/healthy/tombola-draws/internal/rpc"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.Handle(rpc.Handler(drum.New(16)))
	log.Fatal(http.ListenAndServe("127.0.0.1:23438", mux))
}
