// Package web is the HTTP side.
package web

import (
	"encoding/json"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/healthy/tree-surveys/survey"
)

// Taker takes surveys.
type Taker interface {
	Add(s survey.Survey) (int, error)
}

// Handler returns the routes.
func Handler(t Taker) http.Handler {
	r := mux.NewRouter()
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {}).Methods(http.MethodGet)
	r.HandleFunc("/surveys", func(w http.ResponseWriter, req *http.Request) {
		var list []survey.Survey
		if err := json.NewDecoder(req.Body).Decode(&list); err != nil || len(list) == 0 || len(list) > 50 {
			http.Error(w, "1 to 50 surveys", http.StatusBadRequest)
			return
		}
		for _, s := range list {
			if _, err := t.Add(s); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(map[string]int{"taken": len(list)})
	}).Methods(http.MethodPost)
	return r
}
