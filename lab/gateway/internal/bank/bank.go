// Package bank knows which bank issued a card: the table of issuer prefixes
// (BIN table) that card networks publish, held in memory as payment services
// do. It is a live heap of some 50,000 small objects, with the pointers that
// such tables have.
package bank

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// prefixDigits is how much of a card number names its issuer.
const prefixDigits = 8

// Bank is an issuer of cards.
type Bank struct {
	Brand, Issuer, Country string
}

// Table finds banks by prefix. It is read-only once loaded.
type Table struct {
	byPrefix map[int64]*Bank
}

var unknown = Bank{Brand: "unknown", Issuer: "unknown", Country: "ZZ"}

// Load reads the table from the database.
func Load(ctx context.Context, db *sql.DB) (*Table, error) {
	rows, err := db.QueryContext(ctx, "SELECT prefix, brand, issuer, country FROM banks")
	if err != nil {
		return nil, fmt.Errorf("load banks: %w", err)
	}
	defer rows.Close()
	t := &Table{byPrefix: map[int64]*Bank{}}
	for rows.Next() {
		var prefix int64
		b := new(Bank)
		if err := rows.Scan(&prefix, &b.Brand, &b.Issuer, &b.Country); err != nil {
			return nil, fmt.Errorf("load banks: %w", err)
		}
		t.byPrefix[prefix] = b
	}
	return t, rows.Err()
}

// Find returns the bank of a card number, or one that says "unknown".
func (t *Table) Find(cardNumber string) *Bank {
	if len(cardNumber) >= prefixDigits {
		if prefix, err := strconv.ParseInt(cardNumber[:prefixDigits], 10, 64); err == nil {
			if b := t.byPrefix[prefix]; b != nil {
				return b
			}
		}
	}
	return &unknown
}
