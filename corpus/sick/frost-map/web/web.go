// Package web shows where frost is to be expected.
package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/middleware/requestid"

	"github.com/redline-go/redline/corpus/sick/frost-map/cells"
	"github.com/redline-go/redline/corpus/sick/frost-map/field"
)

const side = 32

type summary struct {
	Tile  string  `json:"tile"`
	Hour  int     `json:"hour"`
	Mean  float64 `json:"mean"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Frost int     `json:"frost_cells"`
	Shape string  `json:"shape"`
}

func round(v float64) float64 { return float64(int(v*100)) / 100 }

func summarise(tile string, hour int, values []float64) summary {
	s := summary{Tile: tile, Hour: hour, Low: values[0], High: values[0]}
	shape := make([]byte, 0, side)
	for i, v := range values {
		s.Mean += v / float64(len(values))
		s.Low, s.High = min(s.Low, v), max(s.High, v)
		if v < 0 {
			s.Frost++
		}
		if i%side == side/2 {
			mark := byte('.')
			if v < 0 {
				mark = '*'
			}
			shape = append(shape, mark)
		}
	}
	s.Mean, s.Low, s.High, s.Shape = round(s.Mean), round(s.Low), round(s.High), string(shape)
	return s
}

// New makes the app.
func New(v *field.Valley, f cells.Filler) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		status := http.StatusInternalServerError
		var known *fiber.Error
		if errors.As(err, &known) {
			status = known.Code
		}
		return c.Status(status).JSON(fiber.Map{"error": err.Error()})
	}})
	app.Use(recover.New(), requestid.New())
	app.Get("/alive", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusNoContent) })
	app.Get("/tiles/:column/:row/hours/:hour", func(c *fiber.Ctx) error {
		column, err1 := strconv.Atoi(c.Params("column"))
		row, err2 := strconv.Atoi(c.Params("row"))
		hour, err3 := strconv.Atoi(c.Params("hour"))
		if err := errors.Join(err1, err2, err3); err != nil || min(column, row, hour) < 0 || max(column, row) > 9 || hour > 23 {
			return fiber.NewError(http.StatusBadRequest, "a tile of 0 to 9 each way and an hour are required")
		}
		ctx, cancel := context.WithTimeout(c.UserContext(), 5*time.Second)
		defer cancel()
		a := cells.Area{Left: float64(column) / 10, Top: float64(row) / 10, Size: .1, Cells: side}
		values, err := f.Fill(ctx, a, func(x, y float64) float64 { return v.At(x, y, hour) })
		if err != nil {
			return err
		}
		return c.JSON(summarise(c.Params("column")+"/"+c.Params("row"), hour, values))
	})
	return app
}
