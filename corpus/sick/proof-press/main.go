// Command proof-press checks the proofs of business cards.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
)

type card struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
	Width int      `json:"width"`
}

func (c card) validate() error {
	switch {
	case c.Name == "":
		return errors.New("a card needs a name")
	case len(c.Lines) > 12:
		return errors.New("too many lines")
	case c.Width < 40 || c.Width > 400:
		return errors.New("width is out of range")
	}
	return nil
}

type awaiter func(p *Press, id uint64, most time.Duration) (Report, error)

type api struct {
	press *Press
	await awaiter
}

func (a *api) check(w http.ResponseWriter, r *http.Request) {
	var c card
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&c)
	if err == nil {
		err = c.validate()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	id := a.press.Submit(c)
	report, err := a.await(a.press, id, 2*time.Second)
	if errors.Is(err, ErrLate) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(report)
}

func main() {
	a := &api{press: NewPress(4), await: poll}
	if os.Getenv("FIXED") != "" {
		a.await = wait
	}
	r := chi.NewRouter()
	r.Post("/proofs", a.check)
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9215", r))
}
