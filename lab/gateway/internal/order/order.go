// Package order holds the gateway's subject: orders with their items and events,
// accounts, and the errors that callers can distinguish. Money is in integer cents.
// It knows neither HTTP nor SQL.
package order

import (
	"errors"
	"time"
)

// States of an order. Only a captured order can be reversed.
const (
	Pending  = "pending"
	Captured = "captured"
	Failed   = "failed"
	Reversed = "reversed"
)

// Errors that a caller caused.
var (
	ErrNotFound      = errors.New("no such order")
	ErrNotReversible = errors.New("the order cannot be reversed in its state")
	ErrInsufficient  = errors.New("the balance is insufficient")
	ErrKeyReused     = errors.New("the idempotency key was used for another order")
	ErrNoMerchant    = errors.New("no such merchant")
)

// Order is one payment, with all that a query shows of it. The JSON names are
// those of the public API; fields stand in the order of their JSON names, which
// is the order in which replies carry them.
type Order struct {
	AmountCents int64      `json:"amount_cents"`
	Card        Card       `json:"card"`
	Channel     string     `json:"channel"`
	ClientIP    string     `json:"client_ip"`
	CreatedAt   time.Time  `json:"created_at"`
	Currency    string     `json:"currency"`
	Events      []Event    `json:"events"`
	FeeCents    int64      `json:"fee_cents"`
	ID          int64      `json:"id"`
	Items       []Item     `json:"items"`
	Merchant    Merchant   `json:"merchant"`
	OrderNo     string     `json:"order_no"`
	ReversedAt  *time.Time `json:"reversed_at"`
	Status      string     `json:"status"`
	UpdatedAt   time.Time  `json:"updated_at"`
	UserID      int64      `json:"user_id"`
}

// Card is the card that paid. Number is complete inside the service and masked in
// every reply.
type Card struct {
	Brand   string `json:"brand"`
	Country string `json:"country"`
	Issuer  string `json:"issuer"`
	Number  string `json:"number"`
}

// Merchant is who was paid.
type Merchant struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Item is one position of an order.
type Item struct {
	AmountCents    int64  `json:"amount_cents"`
	ID             int64  `json:"id"`
	Name           string `json:"name"`
	Quantity       int64  `json:"quantity"`
	SKU            string `json:"sku"`
	UnitPriceCents int64  `json:"unit_price_cents"`
}

// Event is one entry of an order's history.
type Event struct {
	Actor string    `json:"actor"`
	At    time.Time `json:"at"`
	ID    int64     `json:"id"`
	Kind  string    `json:"kind"`
	Note  string    `json:"note"`
}

// Balance is what an account holds.
type Balance struct {
	BalanceCents int64     `json:"balance_cents"`
	Currency     string    `json:"currency"`
	Name         string    `json:"name"`
	Phone        string    `json:"phone"` // masked in every reply
	UpdatedAt    time.Time `json:"updated_at"`
	UserID       int64     `json:"user_id"`
}

// Draft is an order to be made.
type Draft struct {
	UserID     int64
	MerchantID int64
	Channel    string
	ClientIP   string
	Currency   string
	CardNumber string
	// Key makes a repeated request the same order; empty makes each its own.
	Key   string
	Items []DraftItem
}

// DraftItem is one position of a Draft.
type DraftItem struct {
	SKU            string
	Name           string
	Quantity       int64
	UnitPriceCents int64
}

// Amount is the sum of the positions, in cents.
func (d Draft) Amount() int64 {
	var sum int64
	for _, i := range d.Items {
		sum += i.Quantity * i.UnitPriceCents
	}
	return sum
}

// Fee is what the payment costs the merchant: 1.4 % and 25 cents, rounded down
// to the cent.
func Fee(amountCents int64) int64 { return amountCents*14/1000 + 25 }

// MaskTail hides all but the first lead and the last four characters of a card
// or telephone number. Text too short to hide anything is hidden whole.
func MaskTail(number string, lead int) string {
	const tail = 4
	masked := []byte(number)
	for i := range masked {
		if len(masked) <= lead+tail || i >= lead && i < len(masked)-tail {
			masked[i] = '*'
		}
	}
	return string(masked)
}

// How many leading digits a reply shows of each number.
const (
	CardLead  = 6 // the issuer's part
	PhoneLead = 4
)
