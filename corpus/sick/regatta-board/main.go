// Command regatta-board shows the standing of a regatta with thousands of boats.
package main

import (
	"log"
	"os"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/redline-go/redline/corpus/sick/regatta-board/standings"
)

type finish struct {
	Race    int `json:"race"`
	Seconds int `json:"seconds"`
}

func main() {
	table := standings.NewTable(3000, os.Getenv("FIXED") == "1")
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ServerHeader: "regatta"})
	app.Use(recover.New())
	app.Get("/ready", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) })

	v1 := app.Group("/v1")
	v1.Get("/boats/:sail", func(c *fiber.Ctx) error {
		sail, err := c.ParamsInt("sail")
		if err != nil {
			return fiber.NewError(fiber.StatusBadRequest, "no sail number")
		}
		card, ok := table.Card(sail)
		if !ok {
			return fiber.ErrNotFound
		}
		return c.JSON(card)
	})
	v1.Get("/classes/:class/podium", func(c *fiber.Ctx) error {
		return c.JSON(table.Podium(c.Params("class"), 10))
	})
	v1.Post("/boats/:sail/finishes", func(c *fiber.Ctx) error {
		var f finish
		if err := c.BodyParser(&f); err != nil {
			return err
		}
		sail, err := c.ParamsInt("sail")
		if err != nil || !table.Finish(sail, f.Race, f.Seconds) {
			return fiber.ErrNotFound
		}
		return c.SendStatus(fiber.StatusAccepted)
	})
	log.Fatal(app.Listen("127.0.0.1:21309"))
}
