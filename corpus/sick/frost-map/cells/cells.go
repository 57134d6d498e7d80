// Package cells fills the cells of a map.
package cells

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Value computes the value of a cell.
type Value func(x, y float64) float64

// Area is a part of the valley in so many cells each way.
type Area struct {
	Left, Top, Size float64
	Cells           int
}

func (a Area) place(i int) (x, y float64) {
	step := a.Size / float64(a.Cells)
	return a.Left + (float64(i%a.Cells)+.5)*step, a.Top + (float64(i/a.Cells)+.5)*step
}

// Filler fills an area.
type Filler interface {
	Fill(ctx context.Context, a Area, v Value) ([]float64, error)
}

// Fine works on all cells at once.
type Fine struct{}

// Fill computes the cells of a.
func (Fine) Fill(ctx context.Context, a Area, v Value) ([]float64, error) {
	out := make([]float64, a.Cells*a.Cells)
	g, ctx := errgroup.WithContext(ctx)
	for i := range out {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			out[i] = v(a.place(i))
			return nil
		})
	}
	return out, g.Wait()
}

// Coarse works on rows, on as many at once as there are CPUs.
type Coarse struct{}

// Fill computes the cells of a.
func (Coarse) Fill(ctx context.Context, a Area, v Value) ([]float64, error) {
	out := make([]float64, a.Cells*a.Cells)
	var row atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), a.Cells) {
		g.Go(func() error {
			for r := int(row.Add(1)) - 1; r < a.Cells; r = int(row.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				for i := r * a.Cells; i < (r+1)*a.Cells; i++ {
					out[i] = v(a.place(i))
				}
			}
			return nil
		})
	}
	return out, g.Wait()
}
