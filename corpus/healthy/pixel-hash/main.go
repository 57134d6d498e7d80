// Command pixel-hash names pictures by what they look like.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
)

type service struct {
	slots *semaphore.Weighted
	log   *slog.Logger
}

// scan makes a picture in grey from a seed, in place of one that a scanner sends.
func scan(r *http.Request) (*image.Gray, error) {
	const side = 256
	g := image.NewGray(image.Rect(0, 0, side, side))
	q := r.URL.Query().Get("seed")
	seed := uint32(len(q))
	for _, c := range q {
		seed = seed*31 + uint32(c)
	}
	for i := range g.Pix {
		seed = seed*1664525 + 1013904223
		g.Pix[i] = uint8(seed >> 24)
	}
	return g, r.Context().Err()
}

func (s *service) hash(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.slots.Acquire(ctx, 1); err != nil {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	picture, err := scan(r)
	var sum uint64
	if err == nil {
		sum = difference(shrink(picture, 9, 8))
	}
	s.slots.Release(1)
	if err != nil {
		s.log.Info("scan", "err", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"hash": fmt.Sprintf("%016x", sum)})
}

// shrink averages the pixels of g into columns by rows.
func shrink(g *image.Gray, columns, rows int) []uint8 {
	size := g.Bounds().Size()
	sums, counts := make([]uint32, columns*rows), make([]uint32, columns*rows)
	for y := range size.Y {
		line := g.Pix[y*g.Stride : y*g.Stride+size.X]
		row := y * rows / size.Y * columns
		for x, p := range line {
			at := row + x*columns/size.X
			sums[at] += uint32(p)
			counts[at]++
		}
	}
	small := make([]uint8, len(sums))
	for i := range sums {
		small[i] = uint8(sums[i] / max(counts[i], 1))
	}
	return small
}

// difference has a bit for each of 8 by 8 pixels that is darker than the one to its right.
func difference(small []uint8) (bits uint64) {
	for y := range 8 {
		for x := range 8 {
			bits <<= 1
			if small[y*9+x] < small[y*9+x+1] {
				bits |= 1
			}
		}
	}
	return bits
}

func main() {
	s := &service{
		slots: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))), // hashing is CPU alone
		log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pictures/hash", s.hash)
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	s.log.Error("serve", "err", http.ListenAndServe("127.0.0.1:9222", mux))
}
