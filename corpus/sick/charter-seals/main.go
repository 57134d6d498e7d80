// Command charter-seals puts a seal of control digits under a boat's charter. The
// digits come from cksum(1), because the harbour's other programs use it too, and the
// command is run for each charter.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type charter struct {
	Boat  string    `json:"boat"`
	Guest string    `json:"guest"`
	From  time.Time `json:"from"`
	Days  int       `json:"days"`
	Seal  string    `json:"seal"`
}

type office struct{ harbour string }

func (o office) draft(boat string) charter {
	return charter{Boat: boat, Guest: "guest of " + boat, From: time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC), Days: 7}
}

func (o office) text(c charter) string {
	return strings.Join([]string{o.harbour, c.Boat, c.Guest, c.From.Format(time.DateOnly), fmt.Sprint(c.Days)}, "\n")
}

// sealer makes the control digits of a text.
type sealer interface {
	Seal(ctx context.Context, text string) (string, error)
}

type digits struct{ command string }

func (d digits) Seal(ctx context.Context, text string) (string, error) {
	cmd := exec.CommandContext(ctx, d.command)
	cmd.Stdin = strings.NewReader(text)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	seal, _, _ := strings.Cut(out.String(), " ")
	return seal, nil
}

func (o office) get(s sealer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := o.draft(chi.URLParam(r, "boat"))
		seal, err := s.Seal(r.Context(), o.text(c))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		c.Seal = seal
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c)
	}
}

func main() {
	o := office{harbour: "Port of Lindau"}
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/charters/{boat}", o.get(digits{command: "cksum"}))
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	log.Fatal(http.ListenAndServe("127.0.0.1:9981", r))
}
