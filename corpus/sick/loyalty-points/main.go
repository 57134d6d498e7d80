// Command loyalty-points shows how many points a customer has. The service that
// knows it sometimes never answers, and nothing here ends the wait: no timeout, no
// context of the request.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/gorilla/mux"
)

type ledger struct {
	origin string
	calls  *http.Client
}

type points struct {
	Customer string `json:"customer"`
	State    string `json:"state"`
}

func (l *ledger) points(customer string) (*points, error) {
	res, err := l.calls.Get(strings.Join([]string{l.origin, "customers", customer}, "/"))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	p := &points{Customer: customer}
	return p, json.NewDecoder(res.Body).Decode(p)
}

func main() {
	l := &ledger{os.Getenv("BACKEND_URL"), &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}}
	r := mux.NewRouter()
	r.HandleFunc("/points/{customer}", func(w http.ResponseWriter, req *http.Request) {
		p, err := l.points(mux.Vars(req)["customer"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(p)
	})
	r.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9630", r))
}
