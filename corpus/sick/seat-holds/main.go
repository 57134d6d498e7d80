// Command seat-holds reserves seats of a venue. The seat map is locked while the
// ticketing partner is asked, so one slow answer holds up every other buyer.
package main

import (
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/rs/zerolog"
)

// guarded is a value with the lock that guards it.
type guarded[T any] struct {
	sync.Mutex
	value T
}

func (g *guarded[T]) with(do func(*T) error) error {
	g.Lock()
	defer g.Unlock()
	return do(&g.value)
}

type seatMap map[string]time.Time

type venue struct {
	seats   guarded[seatMap]
	partner *http.Client
	url     string
}

func (v *venue) hold(seat string) error {
	return v.seats.with(func(seats *seatMap) error {
		res, err := v.partner.Get(v.url + "/seats/" + seat)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		(*seats)[seat] = time.Now().Add(time.Minute)
		return nil
	})
}

func main() {
	logger := zerolog.New(os.Stderr).Level(zerolog.WarnLevel)
	v := &venue{
		seats:   guarded[seatMap]{value: seatMap{}},
		partner: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		url:     os.Getenv("BACKEND_URL"),
	}
	r := chi.NewRouter()
	r.Put("/seats/{seat}/hold", func(w http.ResponseWriter, req *http.Request) {
		if err := v.hold(chi.URLParam(req, "seat")); err != nil {
			logger.Warn().Err(err).Msg("hold")
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	r.Get("/ping", func(http.ResponseWriter, *http.Request) {})
	if err := http.ListenAndServe("127.0.0.1:9402", r); err != nil {
		logger.Fatal().Err(err).Send()
	}
}
