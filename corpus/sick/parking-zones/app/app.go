// Package app sells parking tickets.
package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redline-go/redline/corpus/sick/parking-zones/zones"
)

type wish struct {
	District string  `json:"district" binding:"required,alpha"`
	X        float64 `json:"x" binding:"min=0,max=2"`
	Y        float64 `json:"y" binding:"min=0,max=2"`
	Plate    string  `json:"plate" binding:"required,min=3,max=12"`
	Kind     string  `json:"kind" binding:"oneof=car van bus trailer"`
	Minutes  int     `json:"minutes" binding:"min=10,max=600"`
}

type ticket struct {
	Zone    string `json:"zone"`
	Plate   string `json:"plate"`
	Minutes int    `json:"minutes"`
	Cents   int    `json:"cents"`
	Code    string `json:"code"`
}

type shop struct {
	source zones.Source
	secret []byte
	sold   prometheus.Counter
}

// New makes the engine over source.
func New(source zones.Source, secret string) *gin.Engine {
	reg := prometheus.NewRegistry()
	s := &shop{source: source, secret: []byte(secret),
		sold: prometheus.NewCounter(prometheus.CounterOpts{Name: "parking_tickets_sold_total", Help: "Tickets sold."})}
	reg.MustRegister(s.sold)
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/ready", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	r.GET("/metrics", gin.WrapH(promhttp.HandlerFor(reg, promhttp.HandlerOpts{})))
	r.POST("/tickets", s.buy)
	return r
}

func (s *shop) buy(c *gin.Context) {
	var w wish
	if err := c.ShouldBindJSON(&w); err != nil {
		c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	zone, err := s.find(w)
	if errors.Is(err, zones.ErrNone) {
		c.AbortWithStatusJSON(http.StatusNotFound, gin.H{"error": err.Error()})
		return
	}
	if err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	t := ticket{Zone: zone.ID, Plate: strings.ToUpper(w.Plate), Minutes: min(w.Minutes, zone.MaxMinutes)}
	t.Cents = t.Minutes * zone.MinuteCents
	t.Code = s.code(t)
	s.sold.Inc()
	c.JSON(http.StatusCreated, t)
}

func (s *shop) find(w wish) (zones.Zone, error) {
	d, err := s.source.District(w.District)
	if err != nil {
		return zones.Zone{}, err
	}
	return d.At(w.X, w.Y, w.Kind)
}

// code is what a warden types to check a ticket.
func (s *shop) code(t ticket) string {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte(t.Zone + "|" + t.Plate))
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(t.Minutes))
	m.Write(n[:])
	return base32.StdEncoding.EncodeToString(m.Sum(nil)[:5])
}
