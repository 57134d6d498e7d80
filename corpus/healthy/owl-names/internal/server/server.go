// Package server answers requests.
package server

import (
	"strings"

	"github.com/goccy/go-json"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/corpus/healthy/owl-names/internal/names"
)

type answer struct {
	Seed  string   `json:"seed"`
	Names []string `json:"names"`
}

// Handler returns the handler.
func Handler(n names.Namer, log zerolog.Logger) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		path := string(ctx.Path())
		if path == "/up" {
			return
		}
		seed, ok := strings.CutPrefix(path, "/owls/")
		if !ok || seed == "" || len(seed) > 64 {
			ctx.Error("not found", fasthttp.StatusNotFound)
			return
		}
		a := answer{seed, n.Names(seed)}
		log.Info().Str("seed", seed).Int("names", len(a.Names)).Msg("named")
		ctx.SetContentType("application/json")
		if err := json.NewEncoder(ctx).Encode(a); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		}
	}
}
