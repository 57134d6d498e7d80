// Package server has the routes.
package server

import (
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/hillclimb-times/internal/climbs"
)

// Table is what is served.
type Table interface {
	Standing(climb, rider int) (climbs.Standing, bool)
	Improve(climb, rider int, millis int64) bool
}

type row struct {
	Rider string `json:"rider"`
	Time  string `json:"time"`
}

func present(r climbs.Ride) row {
	s := r.Millis / 1000
	return row{r.Name, strconv.FormatInt(s/60, 10) + ":" + strconv.FormatInt(s%60, 10)}
}

// New returns the app.
func New(t Table, log zerolog.Logger) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/ok", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	app.Get("/climbs/:climb/riders/:rider", func(c *fiber.Ctx) error {
		id, err1 := c.ParamsInt("climb")
		rider, err2 := c.ParamsInt("rider")
		if err1 != nil || err2 != nil {
			return fiber.ErrBadRequest
		}
		s, ok := t.Standing(id, rider)
		if !ok {
			return fiber.ErrNotFound
		}
		rows := make([]row, 0, len(s.Around))
		for _, r := range s.Around {
			rows = append(rows, present(r))
		}
		return c.JSON(fiber.Map{"place": s.Place, "of": s.Of, "me": present(s.Mine), "around": rows})
	})
	app.Put("/climbs/:climb/riders/:rider", func(c *fiber.Ctx) error {
		id, err1 := c.ParamsInt("climb")
		rider, err2 := c.ParamsInt("rider")
		millis, err3 := strconv.ParseInt(string(c.Body()), 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return fiber.ErrBadRequest
		}
		if t.Improve(id, rider, millis) {
			log.Info().Int("climb", id).Int("rider", rider).Int64("ms", millis).Msg("improved")
		}
		return c.SendStatus(fiber.StatusNoContent)
	})
	return app
}
