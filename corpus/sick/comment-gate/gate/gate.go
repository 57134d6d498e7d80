// Package gate decides which comments are shown.
package gate

import (
	"encoding/json"
	"math"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/comment-gate/filter"
)

// Gate asks filters.
type Gate struct {
	Filters []filter.Filter
	Limit   float64
	Log     *zap.Logger
}

type decision struct {
	Show   bool               `json:"show"`
	Score  float64            `json:"score"`
	Scores map[string]float64 `json:"scores"`
}

func (g *Gate) decide(c *filter.Comment) decision {
	c.Split()
	d := decision{Scores: make(map[string]float64, len(g.Filters))}
	for _, f := range g.Filters {
		s := math.Round(f.Score(c)*1000) / 1000
		d.Scores[f.Name()] = s
		d.Score = max(d.Score, s)
	}
	d.Show = d.Score < g.Limit
	return d
}

// Handle answers a request.
func (g *Gate) Handle(ctx *fasthttp.RequestCtx) {
	switch path := string(ctx.Path()); {
	case path == "/healthz":
		ctx.SetStatusCode(fasthttp.StatusOK)
	case path == "/v1/comments" && ctx.IsPost():
		var c filter.Comment
		if err := json.Unmarshal(ctx.PostBody(), &c); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
		if c.Author == "" || c.Text == "" {
			ctx.Error("author and text are required", fasthttp.StatusUnprocessableEntity)
			return
		}
		d := g.decide(&c)
		if ce := g.Log.Check(zap.DebugLevel, "decided"); ce != nil {
			ce.Write(zap.String("author", c.Author), zap.Float64("score", d.Score))
		}
		ctx.SetContentType("application/json")
		if err := json.NewEncoder(ctx).Encode(d); err != nil {
			g.Log.Warn("answer", zap.Error(err))
		}
	default:
		ctx.Error("not found", fasthttp.StatusNotFound)
	}
}
