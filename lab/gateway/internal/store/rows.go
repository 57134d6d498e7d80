package store

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/bank"
	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// The rows as GORM maps them.
type (
	accountRow struct {
		UserID       int64 `gorm:"primaryKey"`
		Name         string
		Phone        string
		Currency     string
		BalanceCents int64
		UpdatedAt    time.Time
	}
	merchantRow struct {
		ID   int64 `gorm:"primaryKey"`
		Name string
	}
	orderRow struct {
		ID             int64 `gorm:"primaryKey"`
		UserID         int64
		MerchantID     int64
		AmountCents    int64
		FeeCents       int64
		CreatedAt      time.Time
		UpdatedAt      time.Time
		ReversedAt     *time.Time
		Status         string
		Currency       string
		Channel        string
		CardNumber     string
		ClientIP       string
		IdempotencyKey *string
	}
	itemRow struct {
		ID             int64 `gorm:"primaryKey"`
		OrderID        int64
		SKU            string
		Name           string
		Quantity       int64
		UnitPriceCents int64
	}
	eventRow struct {
		ID      int64 `gorm:"primaryKey"`
		OrderID int64
		At      time.Time
		Kind    string
		Actor   string
		Note    string
	}
)

// TableName returns the table of accounts.
func (accountRow) TableName() string { return "accounts" }

// TableName returns the table of merchants.
func (merchantRow) TableName() string { return "merchants" }

// TableName returns the table of orders.
func (orderRow) TableName() string { return "orders" }

// TableName returns the table of items.
func (itemRow) TableName() string { return "order_items" }

// TableName returns the table of events.
func (eventRow) TableName() string { return "order_events" }

// assemble makes an order from its rows. Items and events come in the order of
// their ids.
func assemble(o orderRow, merchant string, items []itemRow, events []eventRow, banks *bank.Table) *order.Order {
	b := banks.Find(o.CardNumber)
	out := &order.Order{
		ID: o.ID, OrderNo: fmt.Sprintf("PG%012d", o.ID), UserID: o.UserID,
		Merchant:    order.Merchant{ID: o.MerchantID, Name: merchant},
		AmountCents: o.AmountCents, FeeCents: o.FeeCents, Currency: o.Currency,
		Card:    order.Card{Brand: b.Brand, Issuer: b.Issuer, Country: b.Country, Number: o.CardNumber},
		Channel: o.Channel, ClientIP: o.ClientIP, Status: o.Status,
		CreatedAt: o.CreatedAt.UTC(), UpdatedAt: o.UpdatedAt.UTC(),
		Items: make([]order.Item, 0, len(items)), Events: make([]order.Event, 0, len(events)),
	}
	if o.ReversedAt != nil {
		at := o.ReversedAt.UTC()
		out.ReversedAt = &at
	}
	for _, i := range items {
		out.Items = append(out.Items, order.Item{
			ID: i.ID, SKU: i.SKU, Name: i.Name, Quantity: i.Quantity,
			UnitPriceCents: i.UnitPriceCents, AmountCents: i.Quantity * i.UnitPriceCents,
		})
	}
	for _, e := range events {
		out.Events = append(out.Events, order.Event{ID: e.ID, Kind: e.Kind, At: e.At.UTC(), Actor: e.Actor, Note: e.Note})
	}
	return out
}
