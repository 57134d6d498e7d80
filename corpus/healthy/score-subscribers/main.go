// Command score-subscribers keeps two goroutines for each of its three thousand
// subscribers, which rightly wait for the next goal, and tells scores meanwhile.
package main

import (
	"log"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

type goal struct{ home, away int64 }

type subscriber struct {
	goals chan goal
	seen  atomic.Int64
}

func (s *subscriber) listen() {
	for range s.goals {
		s.seen.Add(1)
	}
}

func (s *subscriber) heartbeat(stop <-chan struct{}) {
	beat := time.NewTicker(time.Minute)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
		case <-stop:
			return
		}
	}
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	stop := make(chan struct{})
	subscribers := make([]*subscriber, 3000)
	for i := range subscribers {
		s := &subscriber{goals: make(chan goal, 4)}
		subscribers[i] = s
		go s.listen()
		go s.heartbeat(stop)
	}
	var home, away atomic.Int64
	go func() {
		for range time.Tick(time.Second) {
			home.Add(1)
			for _, s := range subscribers {
				s.goals <- goal{home.Load(), away.Load()}
			}
		}
	}()
	r := gin.New()
	r.GET("/score", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"home": home.Load(), "away": away.Load(), "audience": len(subscribers)})
	})
	log.Fatal(r.Run("127.0.0.1:9427"))
}
