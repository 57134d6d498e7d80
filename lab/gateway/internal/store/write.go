package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// Create makes an order and debits the account, in one transaction. made is
// false when the draft's key named an order that was there already, which is
// then returned; the same key with other content is order.ErrKeyReused.
func (s *Store) Create(ctx context.Context, d order.Draft) (o *order.Order, made bool, err error) {
	err = s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		// The account's row orders all writes of one user, so that a key that
		// is used twice at once is seen by the second.
		account, err := lockAccount(tx, d.UserID)
		if err != nil {
			return err
		}
		if d.Key != "" {
			if o, err = s.repeated(tx, d); o != nil || err != nil {
				return err
			}
		}
		made = true
		o, err = s.insert(tx, d, account)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return o, made, nil
}

// Reverse gives an order's money back, once: reversing a reversed order changes
// nothing and returns it. A foreign order is order.ErrNotFound, an order in
// another state order.ErrNotReversible.
func (s *Store) Reverse(ctx context.Context, userID, orderID int64) (out *order.Order, err error) {
	err = s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		// Same order of locks as in Create: account, then order.
		account, err := lockAccount(tx, userID)
		if err != nil {
			return err
		}
		var o orderRow
		err = tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("user_id = ?", userID).Take(&o, orderID).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return order.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("reverse: %w", err)
		}
		switch o.Status {
		case order.Reversed:
		case order.Captured:
			if err := refund(tx, account, &o); err != nil {
				return fmt.Errorf("reverse: %w", err)
			}
		default:
			return order.ErrNotReversible
		}
		out, err = s.complete(tx, o)
		return err
	})
	return out, err
}

func lockAccount(tx *gorm.DB, userID int64) (accountRow, error) {
	var a accountRow
	err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("user_id = ?", userID).Take(&a).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return a, order.ErrNotFound
	}
	if err != nil {
		return a, fmt.Errorf("lock the account: %w", err)
	}
	return a, nil
}

// credit adds cents, which may be negative, to a locked account.
func credit(tx *gorm.DB, a accountRow, cents int64, now time.Time) error {
	return tx.Model(&a).Updates(map[string]any{"balance_cents": a.BalanceCents + cents, "updated_at": now}).Error
}

func refund(tx *gorm.DB, a accountRow, o *orderRow) error {
	now := timestamp()
	o.Status, o.ReversedAt, o.UpdatedAt = order.Reversed, &now, now
	if err := tx.Save(o).Error; err != nil {
		return err
	}
	if err := credit(tx, a, o.AmountCents, now); err != nil {
		return err
	}
	return tx.Create(&eventRow{OrderID: o.ID, At: now, Kind: "reversed", Actor: "customer", Note: "amount given back in full"}).Error
}

// repeated returns the order that d's key named before, nil if there is none.
func (s *Store) repeated(tx *gorm.DB, d order.Draft) (*order.Order, error) {
	var o orderRow
	err := tx.Where("idempotency_key = ? AND user_id = ?", d.Key, d.UserID).Take(&o).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the idempotency key: %w", err)
	}
	there, err := s.complete(tx, o)
	if err != nil {
		return nil, err
	}
	if !same(there, d) {
		return nil, order.ErrKeyReused
	}
	return there, nil
}

// same reports whether an order is what the draft asks for.
func same(o *order.Order, d order.Draft) bool {
	return o.Merchant.ID == d.MerchantID && o.Currency == d.Currency && o.Card.Number == d.CardNumber && o.Channel == d.Channel &&
		slices.EqualFunc(o.Items, d.Items, func(a order.Item, b order.DraftItem) bool {
			return a.SKU == b.SKU && a.Name == b.Name && a.Quantity == b.Quantity && a.UnitPriceCents == b.UnitPriceCents
		})
}

func (s *Store) insert(tx *gorm.DB, d order.Draft, account accountRow) (*order.Order, error) {
	amount := d.Amount()
	if account.BalanceCents < amount || account.Currency != d.Currency {
		return nil, order.ErrInsufficient
	}
	var merchant merchantRow
	err := tx.Take(&merchant, d.MerchantID).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, order.ErrNoMerchant
	}
	if err != nil {
		return nil, fmt.Errorf("merchant: %w", err)
	}
	now := timestamp()
	o := orderRow{
		UserID: d.UserID, MerchantID: d.MerchantID, AmountCents: amount, FeeCents: order.Fee(amount),
		CreatedAt: now, UpdatedAt: now, Status: order.Captured, Currency: d.Currency,
		Channel: d.Channel, CardNumber: d.CardNumber, ClientIP: d.ClientIP,
	}
	if d.Key != "" {
		o.IdempotencyKey = &d.Key
	}
	if err := tx.Create(&o).Error; err != nil {
		return nil, fmt.Errorf("create the order: %w", err)
	}
	items := make([]itemRow, 0, len(d.Items))
	for _, i := range d.Items {
		items = append(items, itemRow{OrderID: o.ID, SKU: i.SKU, Name: i.Name, Quantity: i.Quantity, UnitPriceCents: i.UnitPriceCents})
	}
	if err := insertAll(tx, items, s.batchedWrites); err != nil {
		return nil, fmt.Errorf("create the items: %w", err)
	}
	events := []eventRow{
		{OrderID: o.ID, At: now, Kind: "created", Actor: "customer", Note: "order placed"},
		{OrderID: o.ID, At: now, Kind: "captured", Actor: "gateway", Note: "captured in full"},
	}
	if err := insertAll(tx, events, s.batchedWrites); err != nil {
		return nil, fmt.Errorf("create the events: %w", err)
	}
	if err := credit(tx, account, -amount, now); err != nil {
		return nil, fmt.Errorf("debit the account: %w", err)
	}
	return assemble(o, merchant.Name, items, events, s.banks), nil
}

// insertAll inserts rows in one statement, or each in its own, as a loop over a repository
// with a Create method does. Either way the rows get their numbers in their order.
func insertAll[Row any](tx *gorm.DB, rows []Row, together bool) error {
	if together {
		return tx.Create(&rows).Error
	}
	for i := range rows {
		if err := tx.Create(&rows[i]).Error; err != nil {
			return err
		}
	}
	return nil
}

// timestamp is now as the database keeps it, so that an order reads the same
// before and after it was stored.
func timestamp() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
