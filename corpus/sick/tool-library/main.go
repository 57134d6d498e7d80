// Command tool-library lends drills and ladders to the members of a society.
package main

import (
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// Members carry a card such as TL-00123.
var card = regexp.MustCompile(`^TL-\d{5}$`)

// API is the library over HTTP.
type API struct {
	ledger *Ledger
	clock  func() time.Time
}

// Open answers with what a member has at home.
func (a *API) Open(c echo.Context) error {
	no := c.Param("card")
	if !card.MatchString(no) {
		return echo.NewHTTPError(http.StatusBadRequest, "no card")
	}
	loans, err := a.ledger.OpenLoans(c.Request().Context(), no)
	if err != nil {
		return err
	}
	late := 0
	for _, l := range loans {
		if l.Due.Before(a.clock()) {
			late++
		}
	}
	return c.JSON(http.StatusOK, map[string]any{"card": no, "late": late, "loans": loans})
}

// Tool answers with the history of a tool.
func (a *API) Tool(c echo.Context) error {
	loans, err := a.ledger.OfTool(c.Request().Context(), c.Param("tool"))
	if errors.Is(err, sql.ErrNoRows) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, loans)
}

func main() {
	dir, err := os.MkdirTemp("", "tool-library-")
	if err != nil {
		log.Fatal(err)
	}
	ledger, err := Open(filepath.Join(dir, "ledger.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	api := &API{ledger: ledger, clock: time.Now}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.BodyLimit("16K"))
	e.GET("/ping", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	g := e.Group("/v1")
	g.GET("/members/:card/loans", api.Open)
	g.GET("/tools/:tool/loans", api.Tool)
	log.Fatal(e.Start("127.0.0.1:9201"))
}
