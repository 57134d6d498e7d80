// Command weather-proxy asks a forecast service for every request and passes its
// answer on. The forecast service takes its time.
package main

import (
	"net/http"
	"os"

	"github.com/go-resty/resty/v2"
	"github.com/labstack/echo/v4"
)

type forecasts struct{ client *resty.Client }

func (f forecasts) today(city string) ([]byte, error) {
	answer, err := f.client.R().SetQueryParam("city", city).Get("/today")
	if err != nil {
		return nil, err
	}
	return answer.Body(), nil
}

func main() {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, MaxIdleConns: 64}
	f := forecasts{resty.New().SetBaseURL(os.Getenv("BACKEND_URL")).SetTransport(transport)}
	e := echo.New()
	e.HideBanner = true
	e.GET("/weather/:city", func(c echo.Context) error {
		body, err := f.today(c.Param("city"))
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, body)
	})
	e.GET("/ready", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	e.Logger.Fatal(e.Start("127.0.0.1:9621"))
}
