// Package server has the routes.
package server

import (
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/redline-go/redline/corpus/sick/canal-tolls/internal/tolls"
)

// New returns the app.
func New(calc tolls.Calculator) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true})
	app.Use(recover.New())
	app.Get("/healthz", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	app.Get("/tolls/:from/:to", func(c *fiber.Ctx) error {
		from, err1 := c.ParamsInt("from")
		to, err2 := c.ParamsInt("to")
		if err1 != nil || err2 != nil {
			return fiber.ErrBadRequest
		}
		boat := &tolls.Boat{Name: c.Query("boat"), Beam: c.QueryFloat("beam", 3), Length: c.QueryFloat("length", 12)}
		toll, err := calc.Toll(tolls.Trip{From: from, To: to, Boat: boat})
		if errors.Is(err, tolls.ErrNoWay) {
			return fiber.NewError(fiber.StatusNotFound, err.Error())
		}
		if err != nil {
			return err
		}
		return c.JSON(fiber.Map{"boat": boat.Name, "toll": toll})
	})
	return app
}
