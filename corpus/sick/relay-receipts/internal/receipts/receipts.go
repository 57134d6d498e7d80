// Package receipts has receipts of money.
package receipts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/redline-go/redline/corpus/sick/relay-receipts/internal/journal"
)

// ErrAmount says that an amount makes no sense.
var ErrAmount = errors.New("amount")

// Receipt says who gave how much.
type Receipt struct {
	ID      uuid.UUID `json:"id"`
	No      int64     `json:"no"`
	Counter int       `json:"counter"`
	Cents   int64     `json:"cents"`
	From    string    `json:"from"`
	At      time.Time `json:"at"`
	Seal    string    `json:"seal"`
}

// Book writes receipts.
type Book struct {
	journal journal.Journal
	no      atomic.Int64
}

// NewBook makes a book.
func NewBook(j journal.Journal) *Book { return &Book{journal: j} }

// Write writes a receipt.
func (b *Book) Write(counter int, from string, cents int64) (Receipt, error) {
	if cents <= 0 || cents > 5_000_000 {
		return Receipt{}, ErrAmount
	}
	r := Receipt{ID: uuid.New(), No: b.no.Add(1), Counter: counter, Cents: cents, From: from, At: time.Now().UTC()}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d|%d|%d|%s|%s", r.No, r.Counter, r.Cents, r.From, r.ID))
	r.Seal = hex.EncodeToString(sum[:12])
	line, err := json.Marshal(r)
	if err != nil {
		return Receipt{}, err
	}
	if err := b.journal.Append(line); err != nil {
		return Receipt{}, fmt.Errorf("receipt %d: %w", r.No, err)
	}
	return r, nil
}
