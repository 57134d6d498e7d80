// Command product-page puts a product's page together from three services that
// know nothing of each other, and asks them one after another.
package main

import (
	"context"
	"io"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
)

type services struct {
	root string
	c    *http.Client
}

func (s *services) get(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", s.root+path, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := s.c.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

func (s *services) price(ctx context.Context, sku string) (string, error) {
	return s.get(ctx, "/prices/"+sku)
}

func (s *services) stock(ctx context.Context, sku string) (string, error) {
	return s.get(ctx, "/stock/"+sku)
}

func (s *services) reviews(ctx context.Context, sku string) (string, error) {
	return s.get(ctx, "/reviews/"+sku)
}

func (s *services) show(c *gin.Context) {
	page := gin.H{"sku": c.Param("sku")}
	var err error
	if page["price"], err = s.price(c, c.Param("sku")); err == nil {
		if page["stock"], err = s.stock(c, c.Param("sku")); err == nil {
			page["reviews"], err = s.reviews(c, c.Param("sku"))
		}
	}
	if err != nil {
		c.AbortWithStatus(http.StatusBadGateway)
		return
	}
	c.JSON(http.StatusOK, page)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 128
	s := &services{root: os.Getenv("BACKEND_URL"), c: &http.Client{Transport: t}}
	r := gin.New()
	r.GET("/products/:sku", s.show)
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	if err := r.Run("127.0.0.1:9623"); err != nil {
		panic(err)
	}
}
