// Command tax-quote asks a tax service, through a client that is told to try again
// up to eight times whenever the answer is an error.
package main

import (
	"net/http"
	"os"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/labstack/echo/v4"
)

type quotes struct{ rest *resty.Client }

func (q quotes) handle(c echo.Context) error {
	r, err := q.rest.R().SetContext(c.Request().Context()).SetPathParam("zip", c.Param("zip")).Get("/tax/{zip}")
	switch {
	case err != nil:
		return c.String(http.StatusBadGateway, err.Error())
	case r.IsError():
		return c.NoContent(http.StatusServiceUnavailable)
	}
	return c.JSONBlob(http.StatusOK, r.Body())
}

func main() {
	rest := resty.NewWithClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 60}}).
		SetBaseURL(os.Getenv("BACKEND_URL")).
		SetTimeout(2 * time.Second).
		SetRetryCount(8).SetRetryWaitTime(time.Millisecond).SetRetryMaxWaitTime(3 * time.Millisecond).
		AddRetryCondition(func(r *resty.Response, err error) bool { return err != nil || r.StatusCode() >= 500 })
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/quote/:zip", quotes{rest}.handle)
	e.GET("/health", func(c echo.Context) error { return c.String(http.StatusOK, "ok") })
	e.Logger.Fatal(e.Start("127.0.0.1:9633"))
}
