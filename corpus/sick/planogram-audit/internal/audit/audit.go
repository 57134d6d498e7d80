// Package audit finds where a store departs from the plan.
package audit

import (
	"context"
	"log/slog"

	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/plan"
)

// Comparer says whether two fixtures are the same.
type Comparer interface {
	Same(a, b *plan.Fixture) (bool, error)
}

// Option changes a Service.
type Option func(*Service)

// WithComparer sets how fixtures are compared.
func WithComparer(c Comparer) Option { return func(s *Service) { s.cmp = c } }

// WithLogger sets the logger.
func WithLogger(l *slog.Logger) Option { return func(s *Service) { s.log = l } }

// Service audits stores.
type Service struct {
	repo plan.Repository
	cmp  Comparer
	log  *slog.Logger
}

// NewService makes a Service.
func NewService(repo plan.Repository, opts ...Option) *Service {
	s := &Service{repo: repo, cmp: Snapshot{}, log: slog.Default()}
	for _, o := range opts {
		o(s)
	}
	return s
}

// Report is the outcome of an audit.
type Report struct {
	Store    int      `json:"store"`
	Fixtures int      `json:"fixtures"`
	Differ   []string `json:"differ"`
}

// Audit compares a store with the reference.
func (s *Service) Audit(ctx context.Context, store int) (*Report, error) {
	built, err := s.repo.Store(store)
	if err != nil {
		return nil, err
	}
	ref := s.repo.Reference()
	r := &Report{Store: store, Fixtures: len(ref), Differ: []string{}}
	for i := range ref {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		same, err := s.cmp.Same(&ref[i], &built[i])
		if err != nil {
			s.log.Error("compare", "store", store, "fixture", ref[i].Name, "err", err)
			return nil, err
		}
		if !same {
			r.Differ = append(r.Differ, ref[i].Name)
		}
	}
	return r, nil
}
