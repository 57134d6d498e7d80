// Package model has the tables.
package model

// Composer wrote pieces.
type Composer struct {
	ID   uint `gorm:"primaryKey"`
	Name string
	Born int
}

// Piece is sung by a choir.
type Piece struct {
	ID         uint `gorm:"primaryKey"`
	ChoirID    uint `gorm:"index"`
	ComposerID uint
	Title      string
	Minutes    int
}
