package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// Latest returns a user's newest order with its items and events, or
// order.ErrNotFound.
func (s *Store) Latest(ctx context.Context, userID int64) (*order.Order, error) {
	db := s.db.WithContext(ctx)
	var o orderRow
	err := db.Where("user_id = ?", userID).Order("created_at DESC").Take(&o).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, order.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("latest order: %w", err)
	}
	return s.complete(db, o)
}

// Balance returns what a user's account holds, or order.ErrNotFound.
func (s *Store) Balance(ctx context.Context, userID int64) (*order.Balance, error) {
	var a accountRow
	err := s.db.WithContext(ctx).Where("user_id = ?", userID).Take(&a).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, order.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("balance: %w", err)
	}
	return &order.Balance{UserID: a.UserID, Name: a.Name, Phone: a.Phone, Currency: a.Currency,
		BalanceCents: a.BalanceCents, UpdatedAt: a.UpdatedAt.UTC()}, nil
}

// complete adds what belongs to an order.
func (s *Store) complete(db *gorm.DB, o orderRow) (*order.Order, error) {
	load := s.loadEach
	if s.batched {
		load = s.loadBatched
	}
	merchant, items, events, err := load(db, o)
	if err != nil {
		return nil, fmt.Errorf("order %d: %w", o.ID, err)
	}
	return assemble(o, merchant, items, events, s.banks), nil
}

// loadEach asks for the merchant, then for the ids of items and events, then
// for each by its id: what a generic repository with a Get method per type
// comes to when it is used in a loop.
func (s *Store) loadEach(db *gorm.DB, o orderRow) (string, []itemRow, []eventRow, error) {
	var merchant merchantRow
	if err := db.Take(&merchant, o.MerchantID).Error; err != nil {
		return "", nil, nil, fmt.Errorf("merchant: %w", err)
	}
	items, err := getEach[itemRow](db, o.ID)
	if err != nil {
		return "", nil, nil, fmt.Errorf("items: %w", err)
	}
	events, err := getEach[eventRow](db, o.ID)
	if err != nil {
		return "", nil, nil, fmt.Errorf("events: %w", err)
	}
	return merchant.Name, items, events, nil
}

func getEach[Row any](db *gorm.DB, orderID int64) ([]Row, error) {
	var ids []int64
	if err := db.Model(new(Row)).Where("order_id = ?", orderID).Order("id").Pluck("id", &ids).Error; err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(ids))
	for _, id := range ids {
		var row Row
		if err := db.Take(&row, id).Error; err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// itemsSQL and eventsSQL bring the merchant along with the items, so that an
// order costs three round trips in all.
const (
	itemsSQL = `SELECT i.id, i.order_id, i.sku, i.name, i.quantity, i.unit_price_cents, m.name AS merchant ` +
		`FROM order_items i, merchants m WHERE i.order_id = ? AND m.id = ? ORDER BY i.id`
	eventsSQL = `SELECT id, order_id, at, kind, actor, note FROM order_events WHERE order_id = ? ORDER BY id`
)

// loadBatched asks once for the items and once for the events.
func (s *Store) loadBatched(db *gorm.DB, o orderRow) (merchant string, items []itemRow, events []eventRow, err error) {
	rows, err := db.Raw(itemsSQL, o.ID, o.MerchantID).Rows()
	if err != nil {
		return "", nil, nil, fmt.Errorf("items: %w", err)
	}
	defer rows.Close()
	items = make([]itemRow, 0, 4)
	for rows.Next() {
		var i itemRow
		if err := rows.Scan(&i.ID, &i.OrderID, &i.SKU, &i.Name, &i.Quantity, &i.UnitPriceCents, &merchant); err != nil {
			return "", nil, nil, fmt.Errorf("items: %w", err)
		}
		items = append(items, i)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return "", nil, nil, fmt.Errorf("items: %w", err)
	}
	rows, err = db.Raw(eventsSQL, o.ID).Rows()
	if err != nil {
		return "", nil, nil, fmt.Errorf("events: %w", err)
	}
	defer rows.Close()
	events = make([]eventRow, 0, 8)
	for rows.Next() {
		var e eventRow
		if err := rows.Scan(&e.ID, &e.OrderID, &e.At, &e.Kind, &e.Actor, &e.Note); err != nil {
			return "", nil, nil, fmt.Errorf("events: %w", err)
		}
		events = append(events, e)
	}
	return merchant, items, events, rows.Err()
}
