// Command fare-card-sessions remembers at which gate a transit card was last seen.
// Cards that fall out of the cache are written to the archive from the cache's own
// eviction callback, which the library calls while it holds its lock: everybody who
// taps meanwhile waits for the archive's network answer.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
)

// Tap is one card held to one gate.
type Tap struct {
	Card string    `json:"card"`
	Gate int       `json:"gate"`
	At   time.Time `json:"at"`
	Legs int       `json:"legs"`
}

type archive interface {
	Store(card string, last Tap)
}

type httpArchive struct {
	base   string
	client *http.Client
	log    *slog.Logger
}

// Store sends a tap to the archive.
func (a *httpArchive) Store(card string, last Tap) {
	doc, err := json.Marshal(last)
	if err != nil {
		a.log.Error("marshal", "card", card, "err", err)
		return
	}
	resp, err := a.client.Post(a.base+"/cards/"+card, "application/json", bytes.NewReader(doc))
	if err != nil {
		a.log.Error("archive", "card", card, "err", err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
}

// Journeys keeps the open journeys of recently seen cards.
type Journeys struct {
	recent *expirable.LRU[string, Tap]
}

// NewJourneys keeps up to n cards; older ones move to the archive.
func NewJourneys(n int, to archive) *Journeys {
	return &Journeys{recent: expirable.NewLRU[string, Tap](n, to.Store, 30*time.Minute)}
}

// Touch notes a tap and returns the journey so far.
func (j *Journeys) Touch(card string, gate int) Tap {
	tap, seen := j.recent.Get(card)
	if !seen {
		tap = Tap{Card: card}
	}
	tap.Gate, tap.At = gate, time.Now().UTC()
	tap.Legs++
	j.recent.Add(card, tap)
	return tap
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	store := &httpArchive{
		base: os.Getenv("BACKEND_URL"),
		log:  log,
		client: &http.Client{
			Timeout:   3 * time.Second,
			Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		},
	}
	journeys := NewJourneys(2000, store)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /gates/{gate}/taps/{card}", func(w http.ResponseWriter, r *http.Request) {
		var gate int
		if _, err := fmt.Sscan(r.PathValue("gate"), &gate); err != nil {
			http.Error(w, "no such gate", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(journeys.Touch(r.PathValue("card"), gate))
	})
	srv := &http.Server{Addr: "127.0.0.1:9850", Handler: mux, ReadHeaderTimeout: 2 * time.Second}
	log.Error("serve", "err", srv.ListenAndServe())
	os.Exit(1)
}
