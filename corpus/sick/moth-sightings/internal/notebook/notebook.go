// Package notebook has the sightings of moths.
package notebook

import (
	"context"
	"fmt"
	"time"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Sighting is a moth that came to a light.
type Sighting struct {
	ID      uint      `gorm:"primaryKey" json:"id"`
	Species string    `gorm:"index" json:"species"`
	Place   string    `json:"place"`
	SeenAt  time.Time `gorm:"index" json:"seenAt"`
	Count   int       `json:"count"`
	Note    string    `json:"note,omitempty"`
}

// Config says where a notebook is.
type Config struct {
	Path    string
	Readers int
	Indexes []string // besides those of the model
}

// Notebook has all sightings.
type Notebook struct{ db *gorm.DB }

// Open makes a notebook with the sightings of the last years.
func Open(c Config) (*Notebook, error) {
	db, err := gorm.Open(sqlite.Open("file:"+c.Path+"?_journal_mode=WAL&_busy_timeout=3000"), &gorm.Config{
		Logger:                 logger.Default.LogMode(logger.Silent),
		SkipDefaultTransaction: true,
		PrepareStmt:            true,
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(c.Readers)
	pool.SetMaxIdleConns(c.Readers)
	if err := db.AutoMigrate(&Sighting{}); err != nil {
		return nil, err
	}
	for _, s := range c.Indexes {
		if err := db.Exec(s).Error; err != nil {
			return nil, err
		}
	}
	return &Notebook{db}, fill(db, 30_000)
}

func fill(db *gorm.DB, n int) error {
	start := time.Date(2024, 5, 1, 21, 0, 0, 0, time.UTC)
	batch := make([]Sighting, 0, n)
	for i := range n {
		batch = append(batch, Sighting{
			Species: fmt.Sprintf("Noctua %03d", i*31%400),
			Place:   fmt.Sprintf("lamp %d", i%17),
			SeenAt:  start.Add(time.Duration(i) * 17 * time.Minute),
			Count:   1 + i%6,
		})
	}
	return db.Transaction(func(tx *gorm.DB) error { return tx.CreateInBatches(batch, 500).Error })
}

// Latest returns the latest sightings of a species, however it is written.
func (n *Notebook) Latest(ctx context.Context, species string, limit int) ([]Sighting, error) {
	var list []Sighting
	err := n.db.WithContext(ctx).Where("lower(species) = lower(?)", species).Order("seen_at DESC").Limit(limit).Find(&list).Error
	return list, err
}

// Add notes a sighting.
func (n *Notebook) Add(ctx context.Context, s *Sighting) error {
	return n.db.WithContext(ctx).Create(s).Error
}
