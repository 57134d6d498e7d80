// Package server is the HTTP side of the count.
package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/ballot-count/ballots"
)

// Teller returns a station's tally.
type Teller interface {
	Votes(ctx context.Context, station int) (map[int]int, error)
}

// Server answers over HTTP.
type Server struct {
	Recorder ballots.Recorder
	Teller   Teller
	Log      *zap.Logger
}

// Engine returns the routes.
func (s *Server) Engine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(gin.Recovery())
	v1 := e.Group("/v1/stations/:station")
	v1.POST("/ballots", s.record)
	v1.GET("/tally", s.tally)
	e.GET("/livez", func(c *gin.Context) { c.Status(http.StatusOK) })
	return e
}

func (s *Server) record(c *gin.Context) {
	var in struct {
		Candidate int    `json:"candidate" binding:"required,min=1,max=12"`
		Reader    string `json:"reader" binding:"required"`
	}
	station, err := strconv.Atoi(c.Param("station"))
	if err == nil {
		err = c.ShouldBindJSON(&in)
	}
	if err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	receipt, err := s.Recorder.Record(c.Request.Context(), ballots.Ballot{Station: station, Candidate: in.Candidate, Reader: in.Reader})
	if err != nil {
		s.Log.Warn("not recorded", zap.Int("station", station), zap.Error(err))
		c.JSON(http.StatusServiceUnavailable, gin.H{"error": "not recorded"})
		return
	}
	c.JSON(http.StatusCreated, receipt)
}

func (s *Server) tally(c *gin.Context) {
	station, err := strconv.Atoi(c.Param("station"))
	if err != nil {
		c.Status(http.StatusBadRequest)
		return
	}
	votes, err := s.Teller.Votes(c.Request.Context(), station)
	if err != nil {
		c.Status(http.StatusInternalServerError)
		return
	}
	c.JSON(http.StatusOK, votes)
}
