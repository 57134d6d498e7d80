// Command customs-forms fills in declarations. The tariff office is asked for the duty
// of each, and about one in twelve of its answers takes a sixth of a second.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"
)

type (
	// Declaration is what crosses the border.
	Declaration struct {
		Number string  `json:"number"`
		Origin string  `json:"origin"`
		HS     string  `json:"hs"`
		Value  float64 `json:"value"`
		Duty   float64 `json:"duty"`
	}
	// DutyService knows the duty of goods.
	DutyService interface {
		Duty(d *Declaration) error
	}
	tariffOffice struct {
		api *resty.Client
	}
	officeAnswer struct {
		State string `json:"state"`
	}
)

var dutyRate = map[string]float64{"CN": .065, "US": .03, "VN": .041}

func (t tariffOffice) Duty(d *Declaration) error {
	var answer officeAnswer
	resp, err := t.api.R().
		SetQueryParam("hs", d.HS).
		SetQueryParam("origin", d.Origin).
		SetResult(&answer).
		Get("/tariff")
	switch {
	case err != nil:
		return fmt.Errorf("tariff office: %w", err)
	case resp.IsError() || answer.State != "ok":
		return fmt.Errorf("tariff office: %s", resp.Status())
	}
	d.Duty = d.Value * dutyRate[d.Origin]
	return nil
}

func declare(duties DutyService) fiber.Handler {
	return func(c *fiber.Ctx) error {
		var d Declaration
		if err := c.BodyParser(&d); err != nil {
			return fiber.ErrUnprocessableEntity
		}
		d.Number = c.Params("number")
		if err := duties.Duty(&d); err != nil {
			return fiber.NewError(http.StatusBadGateway, err.Error())
		}
		return c.Status(http.StatusOK).JSON(d)
	}
}

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	api := resty.NewWithClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}).
		SetBaseURL(os.Getenv("BACKEND_URL")).
		SetTimeout(2 * time.Second)
	app := fiber.New(fiber.Config{DisableStartupMessage: true, AppName: "customs"})
	app.Get("/alive", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusOK) })
	app.Put("/declarations/:number", declare(tariffOffice{api}))
	log.Fatal().Err(app.Listen("127.0.0.1:9858")).Msg("stopped")
}
