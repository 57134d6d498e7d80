// Package route makes profiles.
package route

import (
	"math"

	"github.com/gofiber/fiber/v2"
)

// Heights knows how high the ground is.
type Heights interface {
	Height(row, col int) (int16, error)
}

// Profile is the answer.
type Profile struct {
	Up     int     `json:"up"`
	Down   int     `json:"down"`
	Top    int     `json:"top"`
	Points []int16 `json:"points"`
}

const steps = 400

// Register adds the routes.
func Register(r fiber.Router, h Heights) {
	r.Get("/profile", func(c *fiber.Ctx) error {
		from, to := c.QueryInt("from", 10), c.QueryInt("to", 900)
		if from < 0 || from > 1100 || to < 0 || to > 1100 {
			return fiber.NewError(fiber.StatusBadRequest, "outside of the tile")
		}
		p, err := along(h, float64(from), float64(to))
		if err != nil {
			return err
		}
		return c.JSON(p)
	})
}

func along(h Heights, from, to float64) (*Profile, error) {
	p := &Profile{Points: make([]int16, 0, 50)}
	last := math.NaN()
	for i := range steps {
		f := float64(i) / steps
		m, err := interpolate(h, from+(to-from)*f, 1150*f)
		if err != nil {
			return nil, err
		}
		if d := m - last; d > 0 {
			p.Up += int(d)
		} else if d < 0 {
			p.Down -= int(d)
		}
		last = m
		p.Top = max(p.Top, int(m))
		if i%8 == 0 {
			p.Points = append(p.Points, int16(m))
		}
	}
	return p, nil
}

func interpolate(h Heights, y, x float64) (float64, error) {
	r, c := int(y), int(x)
	var corner [4]float64
	for i := range corner {
		m, err := h.Height(r+i/2, c+i%2)
		if err != nil {
			return 0, err
		}
		corner[i] = float64(m)
	}
	fy, fx := y-float64(r), x-float64(c)
	top := corner[0]*(1-fx) + corner[1]*fx
	return top*(1-fy) + (corner[2]*(1-fx)+corner[3]*fx)*fy, nil
}
