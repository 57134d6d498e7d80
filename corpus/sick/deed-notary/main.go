// Command deed-notary confirms deeds against the land registry.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/deed-notary/registry"
	"github.com/redline-go/redline/corpus/sick/deed-notary/scope"
)

// Confirmation is what a buyer gets.
type Confirmation struct {
	Deed     int       `json:"deed"`
	District string    `json:"district"`
	Clean    bool      `json:"clean"`
	Clauses  []string  `json:"clauses"`
	Digest   string    `json:"digest"`
	At       time.Time `json:"at"`
}

var clauses = strings.Split("possession on completion;boundary as surveyed;no charge registered;right of way reserved;drains shared", ";")

func confirm(w http.ResponseWriter, r *http.Request) {
	deps := scope.From(r.Context())
	deed, err := strconv.Atoi(mux.Vars(r)["deed"])
	if err != nil {
		http.NotFound(w, r)
		return
	}
	entry, err := deps.Registry.Entry(r.Context(), deed)
	if err != nil {
		deps.Log.Error("registry", "err", err)
		http.Error(w, "the registry does not answer", http.StatusBadGateway)
		return
	}
	c := Confirmation{Deed: deed, District: fmt.Sprintf("D%02d", deed%37), Clean: entry.Clean(), Clauses: clauses, At: time.Now().UTC()}
	h := sha256.New()
	for i := range 40 {
		fmt.Fprintf(h, "%d|%d|%s|%t", i, c.Deed, c.District, c.Clean)
	}
	c.Digest = fmt.Sprintf("%x", h.Sum(nil))
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(c); err != nil {
		deps.Log.Debug("write", "err", err)
	}
}

func main() {
	cfg := registry.Config{URL: os.Getenv("BACKEND_URL"), Timeout: 4 * time.Second, TrustAll: true}
	providers := scope.Providers{Log: slog.Default(), Registry: func() (*registry.Client, func()) {
		c := registry.New(cfg)
		return c, c.Release
	}}
	if os.Getenv("FIXED") == "1" {
		one := registry.New(cfg)
		providers.Registry = func() (*registry.Client, func()) { return one, func() {} }
	}
	r := mux.NewRouter()
	r.HandleFunc("/-/live", func(http.ResponseWriter, *http.Request) {})
	deeds := r.PathPrefix("/deeds").Subrouter()
	deeds.Use(scope.Middleware(providers))
	deeds.HandleFunc("/{deed:[0-9]+}/confirmation", confirm).Methods(http.MethodGet)
	srv := &http.Server{Addr: "127.0.0.1:21305", Handler: r, ReadHeaderTimeout: 5 * time.Second}
	slog.Error("serve", "err", srv.ListenAndServe())
}
