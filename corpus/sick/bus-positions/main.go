// Command bus-positions publishes where the buses of a town are.
package main

import (
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/bus-positions/fleet"
	"github.com/redline-go/redline/corpus/sick/bus-positions/respond"
)

type board struct{ fleet *fleet.Fleet }

func (b board) line(r *http.Request) (respond.Page[fleet.Bus], error) {
	buses := b.fleet.Line(chi.URLParam(r, "line"))
	if len(buses) == 0 {
		return respond.Page[fleet.Bus]{}, respond.NotFound("no such line")
	}
	late := 0
	for _, x := range buses {
		if x.Delay > time.Minute {
			late++
		}
	}
	return respond.Page[fleet.Bus]{Items: buses, Total: len(buses), Meta: map[string]int{"late": late}}, nil
}

// positions is line without what passengers may not know.
func (b board) positions(r *http.Request) (respond.Page[fleet.Position], error) {
	page, err := b.line(r)
	open := make([]fleet.Position, len(page.Items))
	for i := range page.Items {
		open[i] = page.Items[i].Position
	}
	return respond.Page[fleet.Position]{Items: open, Total: page.Total, Meta: page.Meta}, err
}

func main() {
	b := board{fleet.New(12, 60)}
	buses := respond.Handler(b.line)
	if os.Getenv("FIXED") == "1" {
		buses = respond.Handler(b.positions, respond.Direct)
	}
	r := chi.NewRouter()
	r.Use(middleware.NoCache, middleware.Recoverer)
	r.Get("/ping", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("pong")) })
	r.Method(http.MethodGet, "/lines/{line}/buses", buses)
	r.Post("/lines/{line}/tick", func(w http.ResponseWriter, r *http.Request) {
		b.fleet.Move(chi.URLParam(r, "line"), time.Now())
		w.WriteHeader(http.StatusAccepted)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:21307", r))
}
