// Package orders keeps orders and reserves their payment.
package orders

import (
	"context"
	"database/sql"
)

// Order is what a customer wants.
type Order struct {
	Customer string `json:"customer"`
	Loaf     string `json:"loaf"`
	Count    int    `json:"count"`
}

// Slip is the answer.
type Slip struct {
	Loaf  string `json:"loaf"`
	Count int    `json:"count"`
	Hold  string `json:"hold"`
}

// Book is the table of orders.
type Book struct{ db *sql.DB }

// NewBook makes the tables.
func NewBook(ctx context.Context, db *sql.DB) (*Book, error) {
	_, err := db.ExecContext(ctx, `
		CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT NOT NULL, loaf TEXT NOT NULL,
			count INTEGER NOT NULL, hold TEXT NOT NULL);
		CREATE TABLE batches (loaf TEXT PRIMARY KEY, ordered INTEGER NOT NULL)`)
	return &Book{db}, err
}

func (b *Book) insert(ctx context.Context, tx *sql.Tx, o Order) (int64, error) {
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO batches VALUES (?, ?) ON CONFLICT (loaf) DO UPDATE SET ordered = ordered + excluded.ordered`,
		o.Loaf, o.Count); err != nil {
		return 0, err
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO orders (customer, loaf, count, hold) VALUES (?, ?, ?, '')`, o.Customer, o.Loaf, o.Count)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (b *Book) confirm(ctx context.Context, tx *sql.Tx, id int64, hold string) error {
	_, err := tx.ExecContext(ctx, `UPDATE orders SET hold = ? WHERE id = ?`, hold, id)
	return err
}
