// Package service joins pieces with their composers.
package service

import (
	"context"

	"github.com/redline-go/redline/corpus/sick/choir-repertoire/internal/model"
)

// Repository is what the service needs.
type Repository interface {
	OfChoir(ctx context.Context, choir uint) ([]model.Piece, error)
	Composer(ctx context.Context, id uint) (model.Composer, error)
	Composers(ctx context.Context, ids []uint) (map[uint]model.Composer, error)
}

// Line is a line of a repertoire.
type Line struct {
	Title    string `json:"title"`
	Composer string `json:"composer"`
	Born     int    `json:"born"`
	Minutes  int    `json:"minutes"`
}

// Resolver finds the composers of pieces.
type Resolver func(ctx context.Context, r Repository, ps []model.Piece) (map[uint]model.Composer, error)

// Each resolves each piece.
func Each(ctx context.Context, r Repository, ps []model.Piece) (map[uint]model.Composer, error) {
	found := make(map[uint]model.Composer, len(ps))
	for _, p := range ps {
		c, err := r.Composer(ctx, p.ComposerID)
		if err != nil {
			return nil, err
		}
		found[p.ComposerID] = c
	}
	return found, nil
}

// Together resolves all pieces.
func Together(ctx context.Context, r Repository, ps []model.Piece) (map[uint]model.Composer, error) {
	ids := make([]uint, len(ps))
	for i, p := range ps {
		ids[i] = p.ComposerID
	}
	return r.Composers(ctx, ids)
}

// Service lists repertoires.
type Service struct {
	repo    Repository
	resolve Resolver
}

// New makes a Service.
func New(r Repository, how Resolver) *Service { return &Service{r, how} }

// Repertoire lists what a choir sings.
func (s *Service) Repertoire(ctx context.Context, choir uint) ([]Line, error) {
	ps, err := s.repo.OfChoir(ctx, choir)
	if err != nil {
		return nil, err
	}
	composers, err := s.resolve(ctx, s.repo, ps)
	if err != nil {
		return nil, err
	}
	out := make([]Line, len(ps))
	for i, p := range ps {
		c := composers[p.ComposerID]
		out[i] = Line{p.Title, c.Name, c.Born, p.Minutes}
	}
	return out, nil
}
