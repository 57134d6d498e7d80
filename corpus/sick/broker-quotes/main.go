// Command broker-quotes asks three brokers for a premium and answers with the first.
// The channel of answers has no buffer, so that the two brokers that come second and
// third wait forever to be heard, each with the form it worked on.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"log"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type premium struct {
	Broker string  `json:"broker"`
	Yearly float64 `json:"yearly"`
}

type quoter func(form []byte) premium

func broker(name string, base float64) quoter {
	return func(form []byte) premium {
		paper := make([]byte, 12<<10)
		n := copy(paper, form)
		risk := crc32.ChecksumIEEE(paper) % 100
		return premium{name, base + float64(risk) + float64(n)}
	}
}

type exchange struct {
	brokers  []quoter
	patience time.Duration
}

// first returns whichever premium is there first.
func (x exchange) first(ctx context.Context, form []byte) (premium, error) {
	offers := make(chan premium)
	for _, ask := range x.brokers {
		go func() { offers <- ask(form) }()
	}
	select {
	case p := <-offers:
		return p, nil
	case <-time.After(x.patience):
		return premium{}, errors.New("no broker answered")
	case <-ctx.Done():
		return premium{}, ctx.Err()
	}
}

func main() {
	x := exchange{
		brokers:  []quoter{broker("Alder", 310), broker("Birch", 295), broker("Cedar", 322)},
		patience: 250 * time.Millisecond,
	}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/ok", func(http.ResponseWriter, *http.Request) {})
	r.Get("/quote/{plate}", func(w http.ResponseWriter, req *http.Request) {
		p, err := x.first(req.Context(), []byte(chi.URLParam(req, "plate")))
		if err != nil {
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9857", r))
}
