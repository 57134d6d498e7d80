// Package server shows drivers their sheets.
package server

import (
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
	"github.com/gofiber/fiber/v2/middleware/etag"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/healthy/route-sheets/repo"
)

// New makes the app.
func New(drivers repo.Drivers, log zerolog.Logger) *fiber.App {
	sampled := log.Sample(&zerolog.BasicSampler{N: 500})
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		status := fiber.StatusInternalServerError
		var f *fiber.Error
		switch {
		case errors.As(err, &f):
			status = f.Code
		case errors.Is(err, repo.ErrNone):
			status = fiber.StatusNotFound
		default:
			log.Error().Err(err).Str("path", c.Path()).Msg("request")
		}
		return c.Status(status).JSON(fiber.Map{"error": err.Error()})
	}})
	app.Use(recover.New(), compress.New(compress.Config{Level: compress.LevelBestSpeed}), etag.New())
	app.Use(func(c *fiber.Ctx) error {
		start := time.Now()
		err := c.Next()
		sampled.Info().Str("path", c.Path()).Dur("took", time.Since(start)).Msg("answered")
		return err
	})
	app.Get("/up", func(c *fiber.Ctx) error { return c.SendString("ok") })
	app.Get("/drivers/:driver/week", func(c *fiber.Ctx) error {
		id, err := strconv.ParseUint(c.Params("driver"), 10, 32)
		if err != nil {
			return fiber.ErrBadRequest
		}
		from, err := time.Parse(time.DateOnly, c.Query("from"))
		if err != nil {
			return fiber.NewError(fiber.StatusBadRequest, "from: YYYY-MM-DD")
		}
		d, err := drivers.Week(c.UserContext(), uint(id), from.Format(time.DateOnly), from.AddDate(0, 0, 6).Format(time.DateOnly))
		if err != nil {
			return err
		}
		return c.JSON(d)
	})
	return app
}
