// Command push-gateway delivers messages to a push service over TLS. Up to fifty
// deliveries are under way at once, but the transport keeps two connections only,
// as it does by default; nearly every delivery shakes hands anew.
package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

type pusher struct {
	endpoint string
	client   *http.Client
}

func newPusher(endpoint string) *pusher {
	t := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // a certificate of our own authority
	if os.Getenv("FIXED") != "" {
		t.MaxIdleConnsPerHost = 64
	}
	return &pusher{endpoint: endpoint, client: &http.Client{Transport: t}}
}

func (p *pusher) deliver(message []byte) error {
	res, err := p.client.Post(p.endpoint+"/push", "application/json", bytes.NewReader(message))
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Body.Close()
}

func main() {
	p := newPusher(os.Getenv("BACKEND_URL"))
	e := echo.New()
	e.HideBanner = true
	e.Use(middleware.Recover())
	e.POST("/messages", func(c echo.Context) error {
		b, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return err
		}
		if err := p.deliver(b); err != nil {
			return c.String(http.StatusBadGateway, err.Error())
		}
		return c.NoContent(http.StatusOK)
	})
	e.GET("/messages", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.Logger.Fatal(e.Start("127.0.0.1:9626"))
}
