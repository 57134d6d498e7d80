// Command trail-profiles draws the height profiles of hiking trails.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/corpus/sick/trail-profiles/relief"
	"github.com/redline-go/redline/corpus/sick/trail-profiles/trail"
)

type service struct {
	trails *trail.Catalogue
	ground *relief.Model
}

type profile struct {
	Trail  string     `json:"trail"`
	Metres float64    `json:"metres"`
	Climb  float64    `json:"climb"`
	Fall   float64    `json:"fall"`
	Hours  float64    `json:"hours"`
	Points [][2]int64 `json:"points"`
}

func (s *service) handle(ctx *fasthttp.RequestCtx) {
	path := string(ctx.Path())
	if path == "/ok" {
		return
	}
	id, found := strings.CutPrefix(path, "/profiles/")
	if !found || !ctx.IsGet() {
		ctx.Error("not found", fasthttp.StatusNotFound)
		return
	}
	n, err := strconv.Atoi(id)
	if err != nil {
		ctx.Error("the trail is a number", fasthttp.StatusBadRequest)
		return
	}
	t, ok := s.trails.Find(n)
	if !ok {
		ctx.Error("no such trail", fasthttp.StatusNotFound)
		return
	}
	ctx.SetContentType("application/json")
	points := max(8, min(ctx.QueryArgs().GetUintOrZero("points"), 200))
	if err := json.NewEncoder(ctx).Encode(s.draw(t, points)); err != nil {
		ctx.Error("internal error", fasthttp.StatusInternalServerError)
	}
}

func (s *service) draw(t *trail.Trail, points int) profile {
	walk := t.Resample(s.ground.Step())
	s.ground.Lift(walk)
	walk = trail.Smooth(walk, 5)
	p := profile{Trail: t.Name, Points: make([][2]int64, 0, points)}
	p.Metres, p.Climb, p.Fall = trail.Measure(walk)
	p.Hours = p.Metres/4000 + p.Climb/600
	for i := range points {
		at := walk[i*(len(walk)-1)/(points-1)]
		p.Points = append(p.Points, [2]int64{int64(at.Along), int64(at.Height)})
	}
	return p
}

func main() {
	addr := flag.String("addr", "127.0.0.1:9346", "address to listen on")
	trails := flag.Int("trails", 2000, "trails of the catalogue")
	flag.Parse()
	s := &service{trail.NewCatalogue(*trails, 110), relief.NewModel(25)}
	srv := &fasthttp.Server{Handler: s.handle, Name: "profiles", NoDefaultDate: true, CloseOnShutdown: true}
	done := make(chan os.Signal, 1)
	signal.Notify(done, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-done
		_ = srv.Shutdown()
	}()
	if err := srv.ListenAndServe(*addr); err != nil {
		log.Fatal(err)
	}
}
