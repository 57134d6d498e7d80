// Command walk-finder finds walks near a place.
package main

import (
	"context"
	"log"
	"math"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/healthy/walk-finder/api"
	"github.com/redline-go/redline/corpus/healthy/walk-finder/finder"
	"github.com/redline-go/redline/corpus/healthy/walk-finder/trail"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	region := trail.NewRegion(2500)
	f, err := finder.New(region, 4096,
		finder.JudgeFunc(func(_ context.Context, w trail.Walk) float64 { return 1 - math.Abs(w.Km-9)/17 }),
		finder.JudgeFunc(func(_ context.Context, w trail.Walk) float64 { return 1 - float64(w.Climb)/900 }),
		finder.JudgeFunc(func(_ context.Context, w trail.Walk) float64 { return math.Min(1, math.Log1p(float64(w.Likes))/6) }))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		index, forget := time.NewTicker(200*time.Millisecond), time.NewTicker(15*time.Second)
		defer index.Stop()
		defer forget.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-index.C:
				region.Rebuild()
			case <-forget.C:
				f.Forget()
			}
		}
	}()
	srv := &http.Server{Addr: "127.0.0.1:9976", Handler: api.New(f, region)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Print(err)
	}
}
