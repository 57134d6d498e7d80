// Package finder ranks walks by several judges at once.
package finder

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/redline-go/redline/corpus/healthy/walk-finder/trail"
)

var place = regexp.MustCompile(`^(0\.\d{1,4}),(0\.\d{1,4})$`)

// Judge scores walks from 0 to 1.
type Judge interface {
	Judge(ctx context.Context, w trail.Walk) float64
}

// JudgeFunc is a function as a Judge.
type JudgeFunc func(ctx context.Context, w trail.Walk) float64

// Judge calls f.
func (f JudgeFunc) Judge(ctx context.Context, w trail.Walk) float64 { return f(ctx, w) }

// Ranked is a walk with its score.
type Ranked struct {
	trail.Walk
	Score float64 `json:"score"`
}

// Finder finds walks.
type Finder struct {
	region *trail.Region
	judges []Judge
	seen   *lru.Cache[string, []Ranked]
	flight singleflight.Group
}

// New makes a finder that remembers so many places.
func New(r *trail.Region, places int, judges ...Judge) (*Finder, error) {
	c, err := lru.New[string, []Ranked](places)
	return &Finder{region: r, judges: judges, seen: c}, err
}

// Forget drops what is remembered.
func (f *Finder) Forget() { f.seen.Purge() }

// Parse reads a place: 0.25,0.7.
func Parse(s string) (x, y float64, err error) {
	m := place.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, fmt.Errorf("place %q: two numbers below 1", s)
	}
	_, err = fmt.Sscan(m[1]+" "+m[2], &x, &y)
	return x, y, err
}

// Find lists the best walks near a place.
func (f *Finder) Find(ctx context.Context, at string) ([]Ranked, error) {
	if list, ok := f.seen.Get(at); ok {
		return list, nil
	}
	x, y, err := Parse(at)
	if err != nil {
		return nil, err
	}
	v, err, _ := f.flight.Do(at, func() (any, error) {
		list, err := f.rank(context.WithoutCancel(ctx), f.region.Index().Near(x, y))
		if err == nil {
			f.seen.Add(at, list)
		}
		return list, err
	})
	if err != nil {
		return nil, err
	}
	return v.([]Ranked), nil
}

func (f *Finder) rank(ctx context.Context, walks []trail.Walk) ([]Ranked, error) {
	scores := make([][]float64, len(f.judges))
	g, ctx := errgroup.WithContext(ctx)
	for i, j := range f.judges {
		g.Go(func() error {
			scores[i] = make([]float64, len(walks))
			for k, w := range walks {
				scores[i][k] = j.Judge(ctx, w)
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]Ranked, len(walks))
	for k, w := range walks {
		out[k].Walk = w
		for i := range scores {
			out[k].Score += scores[i][k] / float64(len(scores))
		}
		out[k].Score = math.Round(out[k].Score*1000) / 1000
	}
	slices.SortFunc(out, func(a, b Ranked) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return out[:min(10, len(out))], nil
}
