// Package web answers searches of the register.
package web

import (
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/middleware/requestid"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/surname-match/register"
)

type server struct {
	register *register.Register
	log      zerolog.Logger
}

// New makes the application.
func New(r *register.Register, log zerolog.Logger) *fiber.App {
	s := &server{r, log}
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		ReadTimeout:           10 * time.Second,
		ErrorHandler:          s.failed,
	})
	app.Use(recover.New(), requestid.New())
	app.Get("/healthz", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) })
	names := app.Group("/names")
	names.Get("/search", s.search)
	names.Get("/:name", s.exact)
	return app
}

func (s *server) failed(c *fiber.Ctx, err error) error {
	status := fiber.StatusInternalServerError
	var known *fiber.Error
	if errors.As(err, &known) {
		status = known.Code
	} else {
		s.log.Error().Err(err).Str("path", c.Path()).Msg("request")
	}
	return c.Status(status).JSON(fiber.Map{"error": err.Error()})
}

func (s *server) search(c *fiber.Ctx) error {
	var in struct {
		Name    string  `query:"name"`
		AtLeast float64 `query:"at_least"`
		Limit   int     `query:"limit"`
	}
	if err := c.QueryParser(&in); err != nil {
		return fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	if in.Name == "" || len(in.Name) > 60 {
		return fiber.NewError(fiber.StatusBadRequest, "name: 1 to 60 letters")
	}
	if in.AtLeast == 0 {
		in.AtLeast = 0.88
	}
	if in.Limit <= 0 || in.Limit > 50 {
		in.Limit = 10
	}
	found := s.register.Candidates(in.Name, in.AtLeast, in.Limit)
	return c.JSON(fiber.Map{"name": in.Name, "matches": found})
}

func (s *server) exact(c *fiber.Ctx) error {
	e, ok := s.register.Exact(c.Params("name"))
	if !ok {
		return fiber.ErrNotFound
	}
	return c.JSON(e)
}
