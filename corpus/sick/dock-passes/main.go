// Command dock-passes issues passes for lorries that enter the docks.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/dock-passes/customs"
	"github.com/redline-go/redline/corpus/sick/dock-passes/passes"
)

type handler struct {
	issuer *passes.Issuer
	log    *log.Logger
}

func (h *handler) issue(w http.ResponseWriter, r *http.Request) {
	var want passes.Request
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(&want); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, err := h.issuer.Issue(r.Context(), want)
	var bad passes.Invalid
	switch {
	case errors.As(err, &bad):
		http.Error(w, bad.Error(), http.StatusUnprocessableEntity)
		return
	case err != nil:
		h.log.Println(err)
		http.Error(w, "customs do not answer", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(p)
}

func main() {
	l := log.New(os.Stderr, "dock-passes ", log.LstdFlags|log.Lmsgprefix)
	var opts []customs.Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, customs.Concurrent())
	}
	h := &handler{passes.NewIssuer(customs.Dial(os.Getenv("BACKEND_URL"), opts...)), l}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/passes", h.issue)
	mux.HandleFunc("GET /v2/healthy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	l.Fatal(http.ListenAndServe("127.0.0.1:21304", mux))
}
