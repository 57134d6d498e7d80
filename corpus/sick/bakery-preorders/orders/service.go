package orders

import (
	"context"
	"fmt"
)

// Service takes orders: what is not paid is not in the book.
type Service struct {
	*Book
	*Payments
}

// Place implements till.Desk.
func (s *Service) Place(ctx context.Context, o Order) (Slip, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Slip{}, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	id, err := s.insert(ctx, tx, o)
	if err != nil {
		return Slip{}, fmt.Errorf("insert: %w", err)
	}
	hold, err := s.Hold(ctx, o.Customer)
	if err != nil {
		return Slip{}, fmt.Errorf("hold: %w", err)
	}
	if err := s.confirm(ctx, tx, id, hold); err != nil {
		return Slip{}, err
	}
	return Slip{o.Loaf, o.Count, hold}, tx.Commit()
}

// EarlyService holds the money before it opens the book.
type EarlyService struct {
	*Book
	*Payments
}

// Place implements till.Desk.
func (s *EarlyService) Place(ctx context.Context, o Order) (Slip, error) {
	hold, err := s.Hold(ctx, o.Customer)
	if err != nil {
		return Slip{}, fmt.Errorf("hold: %w", err)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Slip{}, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	id, err := s.insert(ctx, tx, o)
	if err != nil {
		return Slip{}, fmt.Errorf("insert: %w", err)
	}
	if err := s.confirm(ctx, tx, id, hold); err != nil {
		return Slip{}, err
	}
	return Slip{o.Loaf, o.Count, hold}, tx.Commit()
}
