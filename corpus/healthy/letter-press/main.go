// Command letter-press renders a letter: JSON, a digest
// and a light compression of its first 300 bytes.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

type letter struct {
	Number  string   `json:"number"`
	Greeted string   `json:"greeted"`
	Parts   []string `json:"parts"`
	Closed  string   `json:"closed"`
}

type press struct {
	packers sync.Pool
	parts   []string
}

func (p *press) print(c *gin.Context) {
	l := letter{Number: c.Param("n"), Greeted: "Dear reader", Parts: p.parts, Closed: "Yours"}
	body, err := json.Marshal(l)
	if err != nil {
		c.Status(http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(body)
	words := 0
	for _, part := range p.parts {
		words += len(strings.Fields(part))
	}
	var out bytes.Buffer
	z := p.packers.Get().(*flate.Writer)
	z.Reset(&out)
	z.Write(body[:min(len(body), 300)])
	z.Close()
	p.packers.Put(z)
	c.Header("ETag", fmt.Sprintf("%x-%d", sum[:6], words))
	c.Data(http.StatusOK, "application/octet-stream", out.Bytes())
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	p := &press{packers: sync.Pool{New: func() any { z, _ := flate.NewWriter(nil, flate.BestSpeed); return z }}}
	for range 10 {
		p.parts = append(p.parts, "we thank you for the order of the tenth and confirm the delivery by rail in two weeks")
	}
	e := gin.New()
	e.GET("/press/:n", p.print)
	e.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	_ = e.Run("127.0.0.1:9729")
}
