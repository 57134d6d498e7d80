// Package store keeps products in SQLite.
package store

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// Product is a cheese with its maker.
type Product struct {
	ID       int64  `db:"id" json:"id"`
	Name     string `db:"name" json:"name"`
	Milk     string `db:"milk" json:"milk"`
	Months   int    `db:"months" json:"months"`
	Cents    int64  `db:"cents" json:"cents"`
	ListedAt int64  `db:"listed_at" json:"listed_at"`
	Maker    string `db:"maker" json:"maker"`
}

// Products finds products.
type Products struct{ db *sqlx.DB }

// NewProducts makes a Products.
func NewProducts(db *sqlx.DB) *Products { return &Products{db} }

// Newest returns the newest products of a milk.
func (p *Products) Newest(ctx context.Context, milk string, limit int) ([]Product, error) {
	out := []Product{}
	err := p.db.SelectContext(ctx, &out, `SELECT p.id, p.name, p.milk, p.months, p.cents, p.listed_at, m.name AS maker
		FROM products p JOIN makers m ON m.id = p.maker_id
		WHERE p.milk = ? ORDER BY p.listed_at DESC, p.id DESC LIMIT ?`, milk, limit)
	return out, err
}

// OfMaker returns the products of a maker.
func (p *Products) OfMaker(ctx context.Context, maker int) ([]Product, error) {
	out := []Product{}
	err := p.db.SelectContext(ctx, &out, `SELECT p.id, p.name, p.milk, p.months, p.cents, p.listed_at, m.name AS maker
		FROM products p JOIN makers m ON m.id = p.maker_id WHERE p.maker_id = ? ORDER BY p.id LIMIT 25`, maker)
	return out, err
}
