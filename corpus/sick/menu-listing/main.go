// Command menu-listing serves a restaurant's menu. Every listing encodes all
// dishes with all their variants, though the page shows ten of them.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/gin-gonic/gin"
)

type variant struct {
	Code     string            `json:"code"`
	Price    float64           `json:"price"`
	Currency string            `json:"currency"`
	Labels   map[string]string `json:"labels"`
}

type dish struct {
	ID          int       `json:"id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Allergens   []string  `json:"allergens"`
	Variants    []variant `json:"variants"`
	Rating      float64   `json:"rating"`
}

type kitchen struct{ dishes []dish }

func stock(n int) *kitchen {
	k := &kitchen{}
	for i := range n {
		d := dish{ID: i, Title: fmt.Sprintf("dish %d", i), Rating: 3.5 + float64(i%15)/10,
			Description: "slow roasted with herbs & lemon, served <warm>", Allergens: []string{"nuts", "milk", "egg"}}
		for v := range 3 {
			d.Variants = append(d.Variants, variant{Code: fmt.Sprintf("D%d-%d", i, v), Price: 4.35 + float64(v), Currency: "EUR",
				Labels: map[string]string{"size": "medium", "origin": "local"}})
		}
		k.dishes = append(k.dishes, d)
	}
	return k
}

func (k *kitchen) list(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"count": len(k.dishes), "dishes": k.dishes})
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	k := stock(150)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/v2/menu", k.list)
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	log.Fatal(r.Run("127.0.0.1:9700"))
}
