// Command duty-rates quotes customs duties.
package main

import (
	"os"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/requestid"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/duty-rates/internal/duty"
)

func main() {
	logrus.SetLevel(logrus.WarnLevel)
	tariff := duty.New(60000, os.Getenv("FIXED") == "1")

	app := fiber.New(fiber.Config{DisableStartupMessage: true, AppName: "duty-rates"})
	app.Use(requestid.New())
	app.Get("/healthz", func(c *fiber.Ctx) error { return c.SendString("ok") })
	app.Get("/v2/duty/:origin/:code", func(c *fiber.Ctx) error {
		declared := time.Now().UTC()
		if d := c.Query("declared"); d != "" {
			var err error
			if declared, err = time.Parse(time.DateOnly, d); err != nil {
				return fiber.NewError(fiber.StatusBadRequest, "declared is no date")
			}
		}
		id, _ := c.Locals("requestid").(string)
		rate, err := tariff.Rate(duty.Query{
			Origin:   utils.CopyString(c.Params("origin")),
			Code:     utils.CopyString(c.Params("code")),
			Declared: declared,
			TraceID:  utils.CopyString(id),
		})
		if err != nil {
			logrus.WithError(err).WithField("request", id).Warn("duty")
			return fiber.NewError(fiber.StatusUnprocessableEntity, err.Error())
		}
		return c.JSON(rate)
	})
	if err := app.Listen("127.0.0.1:9805"); err != nil {
		logrus.Fatal(err)
	}
}
