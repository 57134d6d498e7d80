// Package model is the tables of the help desk.
package model

import (
	"time"

	"gorm.io/gorm"
)

// Ticket is a question of a customer.
type Ticket struct {
	ID        uint      `gorm:"primaryKey" json:"id"`
	QueueID   int       `gorm:"not null" json:"queue"`
	Assignee  string    `gorm:"size:40;not null" json:"assignee"`
	State     string    `gorm:"size:12;not null" json:"state"`
	Subject   string    `gorm:"not null" json:"subject"`
	Body      string    `gorm:"not null" json:"-"`
	TouchedAt time.Time `gorm:"not null" json:"touched_at"`
}

// TableName implements gorm's Tabler.
func (Ticket) TableName() string { return "helpdesk_tickets" }

// Indexed is Ticket with an index for the inbox.
type Indexed struct {
	ID        uint      `gorm:"primaryKey"`
	QueueID   int       `gorm:"not null"`
	Assignee  string    `gorm:"size:40;not null;index:helpdesk_inbox,priority:1"`
	State     string    `gorm:"size:12;not null;index:helpdesk_inbox,priority:2"`
	Subject   string    `gorm:"not null"`
	Body      string    `gorm:"not null"`
	TouchedAt time.Time `gorm:"not null;index:helpdesk_inbox,priority:3,sort:desc"`
}

// TableName implements gorm's Tabler.
func (Indexed) TableName() string { return "helpdesk_tickets" }

// Migrate makes the table and fills it.
func Migrate(db *gorm.DB, table any) error {
	if err := db.AutoMigrate(table); err != nil {
		return err
	}
	err := db.Exec(`INSERT INTO helpdesk_tickets (queue_id, assignee, state, subject, body, touched_at)
		SELECT n % 12, 'agent' || n % 700, (ARRAY['open','waiting','closed'])[1 + n % 3], 'Question ' || n, repeat('lorem ipsum ', 12),
			timestamptz '2025-01-01' + (n * 7919 % 100000) * interval '3 minutes'
		FROM generate_series(1, 70000) n`).Error
	if err != nil {
		return err
	}
	return db.Exec(`ANALYZE helpdesk_tickets`).Error
}
