// Package routes takes the scans of garages.
package routes

import (
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/middleware/requestid"

	"github.com/redline-go/redline/corpus/sick/tyre-scans/terminal"
)

type scan struct {
	Code  string  `json:"code"`
	Tread float64 `json:"tread_mm"`
	Axle  int     `json:"axle"`
}

type verdict struct {
	Code    string   `json:"code"`
	Maker   string   `json:"maker"`
	Week    int      `json:"week"`
	Year    int      `json:"year"`
	State   string   `json:"state"`
	Advice  []string `json:"advice"`
	Checked bool     `json:"checked"`
}

var makers = map[string]string{"4B": "Nordring", "7H": "Asphaltica", "1P": "Pneu & Fils", "9K": "Kavos"}

var errCode = errors.New("code: DOT, maker, size, week and year")

// parse takes a code apart: DOT 4B KKRL 2219.
func parse(code string) (verdict, error) {
	f := strings.Fields(strings.ToUpper(code))
	if len(f) != 4 || f[0] != "DOT" || len(f[2]) != 4 || len(f[3]) != 4 {
		return verdict{}, errCode
	}
	maker, ok := makers[f[1]]
	if !ok {
		return verdict{}, errCode
	}
	n := 0
	for _, c := range f[3] {
		if c < '0' || c > '9' {
			return verdict{}, errCode
		}
		n = n*10 + int(c-'0')
	}
	v := verdict{Code: strings.Join(f, " "), Maker: maker, Week: n / 100, Year: 2000 + n%100, Advice: []string{}}
	if v.Week < 1 || v.Week > 53 {
		return verdict{}, errCode
	}
	return v, nil
}

// New makes the app for the garages that have one of the keys.
func New(bank *terminal.Bank, keys ...string) *fiber.App {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadTimeout: 10 * time.Second, BodyLimit: 1 << 14})
	app.Use(recover.New(), requestid.New())
	app.Get("/alive", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) })
	v1 := app.Group("/v1", func(c *fiber.Ctx) error {
		given := strings.TrimPrefix(c.Get(fiber.HeaderAuthorization), "Bearer ")
		for _, k := range keys {
			if k == given {
				return c.Next()
			}
		}
		return fiber.ErrUnauthorized
	})
	v1.Post("/scans", func(c *fiber.Ctx) error {
		var s scan
		if err := c.BodyParser(&s); err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
		v, err := parse(s.Code)
		if err != nil {
			return fiber.NewError(fiber.StatusUnprocessableEntity, err.Error())
		}
		rec, err := bank.Look(c.UserContext(), v.Code)
		if err != nil {
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		v.State, v.Checked = rec.State, true
		if s.Tread < 3 {
			v.Advice = append(v.Advice, "replace before winter")
		}
		if v.Year < 2020 {
			v.Advice = append(v.Advice, "older than six years")
		}
		if s.Axle > 1 && s.Tread < 4 {
			v.Advice = append(v.Advice, "swap axles")
		}
		return c.Status(fiber.StatusCreated).JSON(v)
	})
	return app
}
