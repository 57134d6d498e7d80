// Command address-rules validates postcodes by country. A rule's expression is
// compiled each time it is applied.
package main

import (
	"log"
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"
)

type rulebook struct{ byCountry map[string][]string }

func (b *rulebook) valid(country, code string) bool {
	for _, rule := range b.byCountry[country] {
		if ok, err := regexp.MatchString(rule, code); err != nil || !ok {
			return false
		}
	}
	return true
}

func main() {
	rules := &rulebook{byCountry: map[string][]string{
		"nl": {`^[1-9][0-9]{3} ?[A-Z]{2}$`, `^(?:[^S].|S[^ADS])?.*$`, `^\d{4}`, `^.{6,7}$`},
		"de": {`^\d{5}$`},
	}}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/check", func(c echo.Context) error {
		if !rules.valid(c.QueryParam("country"), c.QueryParam("code")) {
			return c.String(http.StatusOK, "no")
		}
		return c.String(http.StatusOK, "yes")
	})
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	log.Fatal(e.Start("127.0.0.1:9703"))
}
