// Command elevation-profile draws how high a hiking route goes.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/middleware/requestid"

	"github.com/redline-go/redline/corpus/sick/elevation-profile/internal/dem"
	"github.com/redline-go/redline/corpus/sick/elevation-profile/internal/route"
)

func main() {
	dir, err := os.MkdirTemp("", "elevation-profile-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "n47e011.hgt")
	if err := dem.Generate(path); err != nil {
		log.Fatal(err)
	}
	tile, err := dem.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer tile.Close()

	var heights route.Heights = tile
	if os.Getenv("FIXED") == "1" {
		if heights, err = tile.Resident(); err != nil {
			log.Fatal(err)
		}
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(recover.New(), requestid.New())
	app.Get("/ready", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	route.Register(app.Group("/v1"), heights)
	if err := app.Listen("127.0.0.1:23405"); err != nil {
		log.Print(err)
	}
}
