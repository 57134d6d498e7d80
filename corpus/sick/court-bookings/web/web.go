// Package web shows the courts and their bookings.
package web

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/court-bookings/db"
)

// DayReader lists the bookings of a day.
type DayReader func(ctx context.Context, day time.Time) ([]db.BookingsOfDayRow, error)

// Handler answers the club's members.
type Handler struct {
	Queries *db.Queries
	Day     DayReader
}

type slot struct {
	Starts  string `json:"starts"`
	Minutes int64  `json:"minutes"`
	By      string `json:"by"`
	Note    string `json:"note,omitempty"`
}

type court struct {
	Court int64  `json:"court"`
	Free  int64  `json:"free_minutes"`
	Slots []slot `json:"slots"`
}

// Register adds the routes to e.
func (h *Handler) Register(e *echo.Echo) {
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.Secure())
	e.GET("/up", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	g := e.Group("/api", middleware.BasicAuth(func(user, _ string, c echo.Context) (bool, error) {
		m, err := h.Queries.MemberByEmail(c.Request().Context(), strings.ToLower(user))
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		c.Set("member", m)
		return err == nil, err
	}))
	g.GET("/courts", h.courts)
	g.GET("/bookings", h.mine)
}

func (h *Handler) courts(c echo.Context) error {
	day, err := time.Parse(time.DateOnly, c.QueryParam("day"))
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, "day: YYYY-MM-DD")
	}
	rows, err := h.Day(c.Request().Context(), day)
	if err != nil {
		return err
	}
	const open = 14 * 60
	plan := make([]court, 8)
	for i := range plan {
		plan[i] = court{Court: int64(i + 1), Free: open, Slots: []slot{}}
	}
	me := c.Get("member").(db.Member)
	for _, b := range rows {
		if b.CourtID < 1 || int(b.CourtID) > len(plan) {
			continue
		}
		p := &plan[b.CourtID-1]
		s := slot{Starts: b.StartsAt, Minutes: b.Minutes, By: b.MemberName}
		if b.MemberID == me.ID || me.Grade > 2 {
			s.Note = b.Note.String
		}
		p.Slots = append(p.Slots, s)
		p.Free -= b.Minutes
	}
	return c.JSON(http.StatusOK, echo.Map{"day": day.Format(time.DateOnly), "courts": plan})
}

func (h *Handler) mine(c echo.Context) error {
	me := c.Get("member").(db.Member)
	rows, err := h.Queries.UpcomingOfMember(c.Request().Context(), db.UpcomingOfMemberParams{MemberID: me.ID,
		From: c.QueryParam("from"), Limit: 20})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rows)
}
