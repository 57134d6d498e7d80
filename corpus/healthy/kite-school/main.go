// Command kite-school shows the courses of a kite school.
package main

import (
	"log"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
	"github.com/gofiber/fiber/v2/middleware/etag"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/redline-go/redline/corpus/healthy/kite-school/pages"
)

func main() {
	site := pages.New(30)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/up", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	app.Use(recover.New(), etag.New(), compress.New(compress.Config{Level: compress.LevelBestSpeed}))
	app.Get("/beaches/:beach", func(c *fiber.Ctx) error {
		n, err := c.ParamsInt("beach")
		if err != nil {
			return fiber.ErrBadRequest
		}
		html, err := site.Beach(n)
		if err != nil {
			return fiber.ErrNotFound
		}
		c.Type("html", "utf-8")
		return c.Send(html)
	})
	log.Fatal(app.Listen("127.0.0.1:23435"))
}
