// Command orders-gateway asks a quick service for every order, over connections
// that it keeps, with a deadline that reaches the socket.
package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

type backend struct {
	url string
	hc  http.Client
}

func (b *backend) order(ctx context.Context, id string) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/orders/"+id, nil)
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	res, err := b.hc.Do(req)
	if err != nil {
		return nil, http.StatusBadGateway, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return body, res.StatusCode, err
}

func main() {
	b := &backend{url: os.Getenv("BACKEND_URL")}
	b.hc.Transport = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 200 * time.Millisecond}).DialContext,
		MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64, IdleConnTimeout: time.Minute,
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/orders/:id", func(c *gin.Context) {
		body, status, err := b.order(c.Request.Context(), c.Param("id"))
		if err != nil {
			c.AbortWithStatus(status)
			return
		}
		c.Data(status, "application/json", body)
	})
	r.GET("/ready", func(c *gin.Context) {})
	_ = r.Run("127.0.0.1:9652")
}
