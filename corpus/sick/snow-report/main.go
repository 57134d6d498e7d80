// Command snow-report tells skiers how much snow lies where they are going.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/redline-go/redline/corpus/sick/snow-report/resort"
	"github.com/redline-go/redline/corpus/sick/snow-report/ttl"
)

func main() {
	stations := resort.NewStations(os.Getenv("BACKEND_URL"))
	reports := resort.NewReports(stations, ttl.New[string, resort.Report](600*time.Millisecond))

	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		ReadTimeout:           10 * time.Second,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			status := fiber.StatusBadGateway
			var fe *fiber.Error
			switch {
			case errors.As(err, &fe):
				status = fe.Code
			case errors.Is(err, resort.ErrUnknown):
				status = fiber.StatusNotFound
			}
			return c.Status(status).JSON(fiber.Map{"error": err.Error()})
		},
	})
	app.Use(recover.New())
	app.Get("/health", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	app.Get("/resorts/:resort/snow", func(c *fiber.Ctx) error {
		// fiber reuses the request's memory, and the key outlives the request.
		report, err := reports.Of(c.UserContext(), string([]byte(c.Params("resort"))))
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "public, max-age=1")
		if c.QueryBool("inches") {
			report = report.Inches()
		}
		return c.JSON(report)
	})

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = app.ShutdownWithTimeout(2 * time.Second) })
	if err := app.Listen("127.0.0.1:9345"); err != nil {
		log.Fatal(err)
	}
}
