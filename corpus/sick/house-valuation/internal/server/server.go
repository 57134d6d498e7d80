// Package server is the HTTP side.
package server

import (
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/redline-go/redline/corpus/sick/house-valuation/internal/valuation"
)

// New returns the app.
func New(v *valuation.Valuer) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, AppName: "house-valuation"})
	app.Use(recover.New())
	app.Get("/health", func(c *fiber.Ctx) error { return c.SendString("ok") })
	app.Get("/parcels/:parcel/value", func(c *fiber.Ctx) error {
		value, err := v.Value(c.UserContext(), utils.CopyString(c.Params("parcel")))
		if err != nil {
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		return c.JSON(value)
	})
	return app
}
