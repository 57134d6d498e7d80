package main

import (
	"log"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/grant-screening/rules"
)

var settings = map[string]map[string]string{
	"amount":   {"most": "2500000"},
	"postcode": {"pattern": `^[1-9][0-9]{3,4}$`},
	"purpose":  {"banned": "weapons,gambling,tobacco,lottery"},
	"account": {
		"DE": `^DE[0-9]{2}[0-9]{8}[0-9]{10}$`,
		"AT": `^AT[0-9]{2}[0-9]{5}[0-9]{11}$`,
		"FR": `^FR[0-9]{2}[0-9]{5}[0-9]{5}[A-Z0-9]{11}[0-9]{2}$`,
		"MT": `^MT[0-9]{2}(?i:[A-Z]{4})[0-9]{5}(?i:[A-Z0-9]{18})$`,
	},
}

func main() {
	engine, err := rules.NewEngine(settings)
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/ping", func(c *gin.Context) { c.String(http.StatusOK, "pong") })
	v1 := r.Group("/v1")
	v1.POST("/applications/screen", func(c *gin.Context) {
		var a rules.Application
		if err := c.ShouldBindJSON(&a); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, gin.H{"verdicts": engine.Screen(a)})
	})
	log.Fatal(r.Run("127.0.0.1:9825"))
}
