// Command tariff-reload quotes freight by zone. One request in twelve corrects a
// tariff, which rewrites the whole table under the write lock while all quotes
// wait in front of it.
package main

import (
	"fmt"
	"log"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
)

type zone struct{ base, perKilo, surcharge float64 }

type tariffs struct {
	sync.RWMutex
	zones [512]zone
	by    map[string]int
}

func (t *tariffs) quote(code string, kilos float64) (float64, bool) {
	t.RLock()
	defer t.RUnlock()
	i, ok := t.by[code]
	if !ok {
		return 0, false
	}
	z := t.zones[i]
	return z.base + kilos*z.perKilo + z.surcharge, true
}

func (t *tariffs) correct(code string) {
	t.Lock()
	defer t.Unlock()
	t.zones[t.by[code]].base += 0.01
	// Surcharges even out over neighbouring zones until they are stable.
	for range 12000 {
		last := t.zones[len(t.zones)-1].surcharge
		for i := range t.zones {
			z := &t.zones[i]
			last, z.surcharge = z.surcharge, 0.5*z.surcharge+0.5*last
		}
	}
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	t := &tariffs{by: map[string]int{}}
	for i := range t.zones {
		t.zones[i] = zone{4 + float64(i%9), 0.8, float64(i % 13)}
		t.by[fmt.Sprintf("Z%d", i)] = i
	}
	r := gin.New()
	r.GET("/quotes/:zone", func(c *gin.Context) {
		price, ok := t.quote(c.Param("zone"), 12.5)
		if !ok {
			c.Status(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, gin.H{"price": price})
	})
	r.POST("/tariffs/:zone/correction", func(c *gin.Context) {
		t.correct(c.Param("zone"))
		c.Status(http.StatusNoContent)
	})
	log.Fatal(r.Run("127.0.0.1:9404"))
}
