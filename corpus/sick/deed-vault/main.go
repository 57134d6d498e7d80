// Command deed-vault keeps the deeds of notaries, encrypted for each office.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/deed-vault/mid"
	"github.com/redline-go/redline/corpus/sick/deed-vault/vault"
)

const (
	offices = 10
	deeds   = 24 // of each office
)

type desk struct{ deeds *vault.Deeds }

func (d *desk) show(w http.ResponseWriter, r *http.Request) {
	deed, err := d.deeds.Open(r.PathValue("office"), r.PathValue("deed"))
	switch {
	case errors.Is(err, vault.ErrUnknown):
		http.NotFound(w, r)
		return
	case err != nil:
		log.Printf("%s: %v", mid.ID(r.Context()), err)
		http.Error(w, "the deed cannot be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(deed)
}

func (d *desk) list(w http.ResponseWriter, r *http.Request) {
	names := d.deeds.Names(r.PathValue("office"))
	if names == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(names)
}

func fill(d *vault.Deeds, ring *vault.Keyring) error {
	for o := 1; o <= offices; o++ {
		office := fmt.Sprintf("office-%d", o)
		if err := ring.Enrol(office, fmt.Sprintf("correct horse battery staple %d", o)); err != nil {
			return err
		}
		batch := make([]vault.Deed, deeds)
		for i := range batch {
			batch[i] = vault.Deed{
				Name:    fmt.Sprintf("deed-%d", i+1),
				Parties: []string{fmt.Sprintf("A. Seller %d", i), fmt.Sprintf("B. Buyer %d", o)},
				Text:    strings.Repeat("The seller conveys the land and all that stands on it to the buyer. ", 12),
				Signed:  time.Date(2025, time.Month(1+i%12), 1+i, 10, 0, 0, 0, time.UTC),
			}
		}
		if err := d.Seal(office, batch); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	ring := vault.NewKeyring(vault.Rounds)
	d := &desk{vault.NewDeeds(ring)}
	if err := fill(d.deeds, ring); err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /offices/{office}/deeds", d.list)
	mux.HandleFunc("GET /offices/{office}/deeds/{deed}", d.show)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := &http.Server{
		Addr:         "127.0.0.1:9742",
		Handler:      mid.Stack(mux, mid.Recover, mid.Number, mid.NoStore),
		ReadTimeout:  5 * time.Second,
		WriteTimeout: 10 * time.Second,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
