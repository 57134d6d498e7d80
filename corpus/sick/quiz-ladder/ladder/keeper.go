package ladder

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrUnknown is returned for leagues and players that do not take part.
var ErrUnknown = errors.New("ladder: unknown league or player")

type row struct {
	player int32
	streak int32
	points int64
	name   string
}

// standing is a league at a moment. It is never changed.
type standing struct {
	at    time.Time
	rows  []row
	place []int32 // by player
}

// Rank is where a player stands.
type Rank struct {
	Player string    `json:"player"`
	Place  int       `json:"place"`
	Of     int       `json:"of"`
	Points int64     `json:"points"`
	Behind int64     `json:"behind"`
	Around []string  `json:"around"`
	At     time.Time `json:"at"`
}

// Keeper keeps the standings of a season.
type Keeper struct {
	season *Season
	fresh  time.Duration
	log    *slog.Logger
	now    []atomic.Pointer[standing]
}

// NewKeeper makes the first standings. They are as fresh as that while Run runs.
func NewKeeper(season *Season, fresh time.Duration, log *slog.Logger) *Keeper {
	k := &Keeper{season: season, fresh: fresh, log: log, now: make([]atomic.Pointer[standing], len(season.leagues))}
	for i, l := range season.leagues {
		k.now[i].Store(stand(l))
	}
	return k
}

// Run keeps standings fresh until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	t := time.NewTicker(k.fresh)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := k.refresh(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("refresh", "err", err)
		}
	}
}

func (k *Keeper) refresh(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, l := range k.season.leagues {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			k.now[i].Store(stand(l))
			return nil
		})
	}
	return g.Wait()
}

func stand(l *League) *standing {
	s := &standing{at: time.Now(), rows: make([]row, len(l.players)), place: make([]int32, len(l.players))}
	for i, p := range l.players {
		s.rows[i] = row{int32(i), p.streak.Load(), p.points.Load(), p.Name}
	}
	slices.SortFunc(s.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(b.streak, a.streak), cmp.Compare(a.name, b.name))
	})
	for place, r := range s.rows {
		s.place[r.player] = int32(place)
	}
	return s
}

// Rank tells where a player stands, and who is near.
func (k *Keeper) Rank(league, player int) (Rank, error) {
	p, ok := k.season.player(league, player)
	if !ok {
		return Rank{}, ErrUnknown
	}
	s := k.now[league].Load()
	place := int(s.place[player])
	r := Rank{Player: p.Name, Place: place + 1, Of: len(s.rows), Points: s.rows[place].points, At: s.at}
	if place > 0 {
		r.Behind = s.rows[place-1].points - r.Points
	}
	for _, near := range s.rows[max(0, place-2):min(len(s.rows), place+3)] {
		r.Around = append(r.Around, near.name)
	}
	return r, nil
}

// Answered notes an answer of a player and returns the points.
func (k *Keeper) Answered(league, player int, right bool, difficulty int) (int64, error) {
	p, ok := k.season.player(league, player)
	if !ok {
		return 0, ErrUnknown
	}
	return p.answered(right, difficulty), nil
}
