// Command depot-rounds puts the stops of a van in order. It improves a round by trying
// each pair of edges, and measures the whole round anew for every try.
package main

import (
	"hash/crc32"
	"log"
	"math"
	"strconv"

	"github.com/gofiber/fiber/v2"
)

type stop struct {
	Name string  `json:"name"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

func (a stop) to(b stop) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

type round []stop

func (r round) length() (sum float64) {
	for i := range r {
		sum += r[i].to(r[(i+1)%len(r)])
	}
	return sum
}

func (r round) reverse(i, j int) {
	for ; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
}

// improve reverses stretches for as long as that makes the round shorter.
func (r round) improve(passes int) float64 {
	best := r.length()
	for range passes {
		better := false
		for i := 1; i < len(r)-1; i++ {
			for j := i + 1; j < len(r); j++ {
				r.reverse(i, j)
				if now := r.length(); now < best {
					best, better = now, true
				} else {
					r.reverse(i, j)
				}
			}
		}
		if !better {
			break
		}
	}
	return best
}

func plan(depot string, stops int) round {
	seed := crc32.ChecksumIEEE([]byte(depot))
	r := make(round, stops)
	for i := range r {
		seed = seed*1664525 + 1013904223
		r[i] = stop{"stop-" + strconv.Itoa(i), float64(seed >> 20), float64(seed >> 8 & 0xfff)}
	}
	return r
}

type answer struct {
	Depot string  `json:"depot"`
	Km    float64 `json:"km"`
	First stop    `json:"first"`
}

func main() {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/up", func(c *fiber.Ctx) error { return c.SendString("up") })
	app.Get("/depots/:depot/round", func(c *fiber.Ctx) error {
		n := c.QueryInt("stops", 20)
		if n < 4 || n > 60 {
			return fiber.ErrBadRequest
		}
		r := plan(c.Params("depot"), n)
		km := r.improve(12) / 10
		return c.JSON(answer{c.Params("depot"), math.Round(km), r[1]})
	})
	log.Fatal(app.Listen("127.0.0.1:9872"))
}
