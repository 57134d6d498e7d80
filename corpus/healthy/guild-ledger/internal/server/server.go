// Package server has the routes.
package server

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/redline-go/redline/corpus/healthy/guild-ledger/internal/ledger"
)

// Ledger is what is served.
type Ledger interface {
	Account(ctx context.Context, member int) (*ledger.Account, error)
	Pay(ctx context.Context, member int, cents int64, what string) error
}

// New returns the app.
func New(l Ledger) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: answer})
	app.Get("/up", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	app.Get("/members/:member", func(c *fiber.Ctx) error {
		member, err := c.ParamsInt("member")
		if err != nil {
			return fiber.ErrBadRequest
		}
		a, err := l.Account(c.Context(), member)
		if err != nil {
			return err
		}
		return c.JSON(a)
	})
	app.Post("/members/:member/payments", func(c *fiber.Ctx) error {
		member, err := c.ParamsInt("member")
		var in struct {
			Cents int64  `json:"cents"`
			What  string `json:"what"`
		}
		if err == nil {
			err = c.BodyParser(&in)
		}
		if err != nil || in.Cents == 0 {
			return fiber.ErrBadRequest
		}
		if err := l.Pay(c.Context(), member, in.Cents, in.What); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	})
	return app
}

func answer(c *fiber.Ctx, err error) error {
	if errors.Is(err, ledger.ErrMember) {
		err = fiber.ErrNotFound
	}
	return fiber.DefaultErrorHandler(c, err)
}
