// Package loading packs boxes.
package loading

import (
	"cmp"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Box is what has to go along.
type Box struct {
	ID                    int
	Height, Width, Length int
	Fragile               bool
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (b Box) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddInt("id", b.ID)
	enc.AddInt("h", b.Height)
	enc.AddInt("w", b.Width)
	enc.AddInt("l", b.Length)
	enc.AddBool("fragile", b.Fragile)
	return nil
}

// Lorry has room.
type Lorry struct{ Height, Width, Length int }

// Place is where a box stands.
type Place struct {
	Box     int `json:"box"`
	X, Y, Z int
}

// Plan is a full lorry.
type Plan struct {
	Places []Place `json:"places"`
	Left   []int   `json:"left"`
}

// Planner makes plans.
type Planner struct {
	log   *zap.Logger
	lorry Lorry
}

// NewPlanner makes a planner of a kind of lorry.
func NewPlanner(log *zap.Logger, l Lorry) *Planner { return &Planner{log, l} }

// Plan puts boxes on a lorry in rows, sturdy and large ones first.
func (p *Planner) Plan(order int, boxes []Box) Plan {
	log := p.log.With(zap.Int("order", order))
	sorted := slices.Clone(boxes)
	slices.SortFunc(sorted, func(a, b Box) int {
		if a.Fragile != b.Fragile {
			return map[bool]int{true: 1, false: -1}[a.Fragile]
		}
		return cmp.Compare(b.Height*b.Width*b.Length, a.Height*a.Width*a.Length)
	})
	plan := Plan{Places: make([]Place, 0, len(boxes))}
	var x, y, z, row, depth int
	for _, b := range sorted {
		if y+b.Height > p.lorry.Height {
			x, y = x+row, 0
			row = 0
		}
		if x+b.Width > p.lorry.Width {
			z, x, y, row = z+depth, 0, 0, 0
			depth = 0
		}
		if z+b.Length > p.lorry.Length {
			log.Debug("no room", zap.Object("box", b), zap.Int("z", z))
			plan.Left = append(plan.Left, b.ID)
			continue
		}
		plan.Places = append(plan.Places, Place{b.ID, x, y, z})
		log.Debug("placed", zap.Object("box", b), zap.Ints("at", []int{x, y, z}))
		y += b.Height
		row, depth = max(row, b.Width), max(depth, b.Length)
	}
	return plan
}
