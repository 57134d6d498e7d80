// Command milk-collection takes what tankers measured at farms.
package main

import (
	"encoding/json"
	"log/slog"
	"os"

	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/corpus/sick/milk-collection/tanker"
)

func main() {
	f, err := os.CreateTemp("", "milk-collection-*.log")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	level := slog.LevelDebug
	if os.Getenv("FIXED") == "1" {
		level = slog.LevelWarn
	}
	log := slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{AddSource: true, Level: level}))
	intake := tanker.NewIntake(log.With("service", "milk-collection", "region", "north"))
	srv := &fasthttp.Server{Name: "milk", Handler: func(ctx *fasthttp.RequestCtx) {
		switch string(ctx.Path()) {
		case "/ready":
			ctx.SetStatusCode(fasthttp.StatusOK)
		case "/tours":
			var t tanker.Tour
			if err := json.Unmarshal(ctx.PostBody(), &t); err != nil {
				ctx.Error("tour", fasthttp.StatusBadRequest)
				return
			}
			ctx.SetContentType("application/json")
			_ = json.NewEncoder(ctx).Encode(intake.Take(ctx, t))
		default:
			ctx.Error("not found", fasthttp.StatusNotFound)
		}
	}}
	if err := srv.ListenAndServe("127.0.0.1:23414"); err != nil {
		slog.Error("serve", "err", err)
	}
}
