// Package ladder ranks the players of leagues.
package ladder

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// Player is one of a league. Scores rise while the season runs.
type Player struct {
	Name   string
	points atomic.Int64
	streak atomic.Int32
}

// League is players who compete.
type League struct {
	ID      int
	players []*Player
}

// Season is all leagues.
type Season struct{ leagues []*League }

// NewSeason makes leagues of so many players each.
func NewSeason(leagues, players int) *Season {
	rnd := rand.New(rand.NewPCG(3, 9))
	s := &Season{}
	for l := range leagues {
		league := &League{ID: l}
		for p := range players {
			player := &Player{Name: fmt.Sprintf("quizzer-%d-%d", l, p)}
			player.points.Store(rnd.Int64N(90_000))
			player.streak.Store(rnd.Int32N(12))
			league.players = append(league.players, player)
		}
		s.leagues = append(s.leagues, league)
	}
	return s
}

func (s *Season) player(league, player int) (*Player, bool) {
	if league < 0 || league >= len(s.leagues) || player < 0 || player >= len(s.leagues[league].players) {
		return nil, false
	}
	return s.leagues[league].players[player], true
}

// points of an answer, by difficulty and by how many were right before.
func (p *Player) answered(right bool, difficulty int) int64 {
	if !right {
		p.streak.Store(0)
		return p.points.Load()
	}
	streak := p.streak.Add(1)
	return p.points.Add(int64(difficulty) * int64(10+min(streak, 20)))
}
