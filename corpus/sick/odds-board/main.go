// Command odds-board serves the prices of runners.
package main

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/goccy/go-json"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/log"
)

type (
	Runner struct {
		ID    int     `json:"id"`
		Name  string  `json:"name"`
		Form  float64 `json:"-"`
		Price float64 `json:"price"`
	}
	Race struct {
		ID      int      `json:"id"`
		Runners []Runner `json:"runners"`
	}
	Board struct {
		mu    sync.Mutex
		races map[int]*Race
		form  [][]float64
		seq   int
	}
)

func NewBoard(races, field int) *Board {
	b := &Board{races: make(map[int]*Race, races)}
	for i := 0; i < races; i++ {
		r := &Race{ID: i, Runners: make([]Runner, field)}
		for k := range r.Runners {
			r.Runners[k] = Runner{ID: i*100 + k, Name: fmt.Sprintf("Runner %d of %d", k, i), Price: float64(2 + k)}
		}
		b.races[i] = r
	}
	b.form = make([][]float64, races)
	for i := range b.form {
		b.form[i] = make([]float64, 256)
		for k := range b.form[i] {
			b.form[i][k] = math.Mod(float64(i*k), 17) / 17
		}
	}
	return b
}

func price(r *Race, form []float64, seq int) []Runner {
	out := make([]Runner, len(r.Runners))
	sum := 0.0
	for k, run := range r.Runners {
		s := 0.0
		for j, f := range form {
			s += math.Exp(-f*float64(k+1)) * math.Cos(float64(seq+j)/50)
		}
		run.Form = math.Abs(s) + 1
		sum += run.Form
		out[k] = run
	}
	for k := range out {
		out[k].Price = math.Round(sum/out[k].Form*100) / 100
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Price < out[j].Price })
	return out
}

// Reprice computes all prices anew.
func (b *Board) Reprice() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	for id, r := range b.races {
		r.Runners = price(r, b.form[id], b.seq)
	}
}

// RepriceInTurn computes the prices of one race after another.
func (b *Board) RepriceInTurn() {
	b.mu.Lock()
	b.seq++
	seq, n := b.seq, len(b.races)
	b.mu.Unlock()
	for id := 0; id < n; id++ {
		b.mu.Lock()
		r := *b.races[id]
		b.mu.Unlock()
		fresh := price(&r, b.form[id], seq)
		b.mu.Lock()
		b.races[id] = &Race{ID: id, Runners: fresh}
		b.mu.Unlock()
	}
}

func (b *Board) Race(id int) (Race, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.races[id]
	if !ok {
		return Race{}, false
	}
	return *r, true
}

func main() {
	zerolog.SetGlobalLevel(zerolog.WarnLevel)
	board := NewBoard(1000, 14)
	reprice := board.Reprice
	if os.Getenv("FIXED") == "1" {
		reprice = board.RepriceInTurn
	}
	go func() {
		for range time.Tick(500 * time.Millisecond) {
			start := time.Now()
			reprice()
			log.Debug().Dur("took", time.Since(start)).Msg("repriced")
		}
	}()

	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/races/{id}", func(w http.ResponseWriter, r *http.Request) {
		var id int
		if _, err := fmt.Sscan(chi.URLParam(r, "id"), &id); err != nil {
			http.Error(w, "no such race", http.StatusNotFound)
			return
		}
		race, ok := board.Race(id)
		if !ok {
			http.Error(w, "no such race", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(race); err != nil {
			log.Warn().Err(err).Int("race", id).Msg("answer")
		}
	})
	r.Get("/ping", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("pong")) })
	if err := http.ListenAndServe("127.0.0.1:9804", r); err != nil {
		log.Fatal().Err(err).Send()
	}
}
