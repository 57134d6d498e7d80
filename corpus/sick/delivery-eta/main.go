// Command delivery-eta says when a parcel comes. In the same process eight learners
// refit the traffic model several times a second, and while they do, requests stand
// in the run queue behind them.
package main

import (
	"log"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

type coefficients [24]float64

// sample is one drive: hour of the day, distance and the minutes it took.
type sample struct{ hour, km, minutes float64 }

type learner struct {
	zone    int
	samples []sample
	model   atomic.Pointer[coefficients]
}

func newLearner(zone int) *learner {
	l := &learner{zone: zone, samples: make([]sample, 2400)}
	for i := range l.samples {
		h := float64(i % 24)
		km := 1 + float64((i*7919+zone)%300)/10
		l.samples[i] = sample{h, km, km * (1.8 + math.Sin(h/4))}
	}
	l.model.Store(&coefficients{})
	return l
}

// refit runs gradient steps over all samples.
func (l *learner) refit(rounds int) {
	next := *l.model.Load()
	for range rounds {
		for _, s := range l.samples {
			at := int(s.hour)
			off := math.Log1p(s.km)*next[at] - math.Log1p(s.minutes)
			next[at] -= 0.01 * off * math.Exp(-math.Abs(off))
		}
	}
	l.model.Store(&next)
}

type fleet []*learner

func (f fleet) keepLearning(pause time.Duration) {
	for {
		var all sync.WaitGroup
		for _, l := range f {
			all.Go(func() { l.refit(110) })
		}
		all.Wait()
		time.Sleep(pause)
	}
}

func (f fleet) eta(zone int, km float64) time.Duration {
	m := f[zone%len(f)].model.Load()
	return time.Duration(math.Expm1(math.Log1p(km)*m[time.Now().Hour()]) * float64(time.Minute))
}

func main() {
	zones := make(fleet, 8)
	for z := range zones {
		zones[z] = newLearner(z)
	}
	go zones.keepLearning(180 * time.Millisecond)

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.GET("/eta/:zone", func(c *gin.Context) {
		zone, err := strconv.Atoi(c.Param("zone"))
		if err != nil || zone < 0 {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		km, _ := strconv.ParseFloat(c.DefaultQuery("km", "3.5"), 64)
		c.JSON(http.StatusOK, gin.H{"zone": zone, "minutes": zones.eta(zone, km).Minutes()})
	})
	log.Fatal(r.Run("127.0.0.1:9856"))
}
