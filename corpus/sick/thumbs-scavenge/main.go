// Command thumbs-scavenge cuts thumbnails. A janitor gives memory back to the
// system many times a second, to look small on a dashboard; the collections that
// this takes, and the faults that follow, cost more than the thumbnails.
package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
)

type pixel struct{ r, g, b byte }

type picture struct {
	width, height int
	pixels        []pixel
	layers        []*picture
}

func paint(w, h int, layers int) *picture {
	p := &picture{width: w, height: h, pixels: make([]pixel, w*h)}
	for i := range p.pixels {
		p.pixels[i] = pixel{byte(i), byte(i >> 3), byte(i >> 6)}
	}
	for range layers {
		p.layers = append(p.layers, &picture{width: 8, height: 8, pixels: make([]pixel, 64)})
	}
	return p
}

func (p *picture) half() *picture {
	out := &picture{width: p.width / 2, height: p.height / 2}
	out.pixels = make([]pixel, out.width*out.height)
	for y := range out.height {
		for x := range out.width {
			out.pixels[y*out.width+x] = p.pixels[2*y*p.width+2*x]
		}
	}
	return out
}

type janitor struct{ every time.Duration }

func (j janitor) tidy(ctx context.Context) {
	for tick := time.NewTicker(j.every); ; {
		select {
		case <-tick.C:
			debug.FreeOSMemory()
		case <-ctx.Done():
			return
		}
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	album := make([]*picture, 60)
	for i := range album {
		album[i] = paint(64, 64, 6000)
	}
	go janitor{15 * time.Millisecond}.tidy(ctx)
	r := chi.NewMux()
	r.Get("/thumbs/{n}", func(w http.ResponseWriter, req *http.Request) {
		n, _ := strconv.Atoi(chi.URLParam(req, "n"))
		small := album[n%len(album)].half().half()
		w.Header().Set("Content-Type", "application/octet-stream")
		for _, px := range small.pixels[:16] {
			_, _ = w.Write([]byte{px.r, px.g, px.b})
		}
	})
	_ = http.ListenAndServe("127.0.0.1:9608", r)
}
