// Command vet-referrals takes referrals of animals to specialist practices.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/vet-referrals/practice"
	"github.com/redline-go/redline/corpus/sick/vet-referrals/referral"
)

type config struct {
	addr     string
	registry string
	profiles time.Duration
}

func configFromEnv() (config, error) {
	c := config{addr: "127.0.0.1:9340", registry: os.Getenv("BACKEND_URL"), profiles: 2 * time.Second}
	if c.registry == "" {
		return c, errors.New("BACKEND_URL is required")
	}
	if s := os.Getenv("PROFILE_TTL"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			return c, err
		}
		c.profiles = d
	}
	return c, nil
}

type api struct {
	directory *practice.Directory
	book      *referral.Book
}

func (a *api) routes(e *echo.Echo) {
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	v1 := e.Group("/v1", middleware.BodyLimit("16K"))
	v1.POST("/practices/:practice/referrals", a.refer)
	v1.GET("/practices/:practice/referrals", a.list)
}

func (a *api) profile(c echo.Context) (practice.Profile, error) {
	p, err := a.directory.Lookup(c.Request().Context(), c.Param("practice"))
	switch {
	case errors.Is(err, practice.ErrUnknown):
		return p, echo.NewHTTPError(http.StatusNotFound, "no such practice")
	case err != nil:
		return p, echo.NewHTTPError(http.StatusBadGateway, "registry is not available").SetInternal(err)
	}
	return p, nil
}

func (a *api) refer(c echo.Context) error {
	var in struct {
		Animal  string `json:"animal"`
		Species string `json:"species"`
		Reason  string `json:"reason"`
		Urgent  bool   `json:"urgent"`
	}
	if err := c.Bind(&in); err != nil {
		return err
	}
	if in.Animal == "" || in.Reason == "" {
		return echo.NewHTTPError(http.StatusUnprocessableEntity, "animal and reason are required")
	}
	p, err := a.profile(c)
	if err != nil {
		return err
	}
	if !p.Takes(in.Species) {
		return echo.NewHTTPError(http.StatusConflict, p.Name+" does not treat "+in.Species)
	}
	r := a.book.Add(p.ID, referral.Referral{
		Animal: in.Animal, Species: in.Species, Reason: in.Reason, Urgent: in.Urgent, Due: p.Due(time.Now(), in.Urgent),
	})
	return c.JSON(http.StatusCreated, r)
}

func (a *api) list(c echo.Context) error {
	p, err := a.profile(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"practice": p, "referrals": a.book.Latest(p.ID, 10)})
}

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	cfg, err := configFromEnv()
	if err != nil {
		log.Error("config", "err", err)
		os.Exit(2)
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID())
	a := &api{practice.NewDirectory(practice.NewRegistry(cfg.registry), cfg.profiles), referral.NewBook(50)}
	a.routes(e)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = e.Shutdown(grace)
	})
	if err := e.Start(cfg.addr); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
