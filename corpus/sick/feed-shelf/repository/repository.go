// Package repository keeps feeds and entries.
package repository

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/corpus/sick/feed-shelf/models"
)

// ErrNotFound is returned where a row is missing.
var ErrNotFound = errors.New("not found")

// Page bounds a listing.
type Page struct {
	Limit  int
	Before time.Time
	Unread bool
}

// Store is the data of the reader.
type Store struct {
	db    *gorm.DB
	eager bool
}

// Open opens file and brings its schema up to date.
func Open(file string, eager bool) (*Store, error) {
	db, err := gorm.Open(sqlite.Open(file+"?_journal_mode=WAL&_busy_timeout=5000&_synchronous=NORMAL"), &gorm.Config{
		Logger:                 logger.Discard,
		SkipDefaultTransaction: true,
		PrepareStmt:            true,
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	conns, err := db.DB()
	if err != nil {
		return nil, err
	}
	conns.SetMaxOpenConns(8)
	conns.SetMaxIdleConns(8)
	err = db.AutoMigrate(&models.User{}, &models.Feed{}, &models.Entry{}, &models.Label{}, &models.Enclosure{})
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return &Store{db: db, eager: eager}, nil
}

// User finds a user by id.
func (s *Store) User(ctx context.Context, id uint) (*models.User, error) {
	var u models.User
	err := s.db.WithContext(ctx).First(&u, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, ErrNotFound
	}
	return &u, err
}

// Timeline lists the newest entries of a user with all that is shown of them.
func (s *Store) Timeline(ctx context.Context, user uint, p Page) ([]models.Entry, error) {
	q := s.db.WithContext(ctx).Where("user_id = ?", user)
	if !p.Before.IsZero() {
		q = q.Where("published < ?", p.Before)
	}
	if p.Unread {
		q = q.Where("read = ?", false)
	}
	q = q.Order("published DESC").Limit(p.Limit)
	if s.eager {
		q = q.Preload("Feed").Preload("Labels").Preload("Enclosure")
	}
	var list []models.Entry
	if err := q.Find(&list).Error; err != nil {
		return nil, err
	}
	if s.eager {
		return list, nil
	}
	for i := range list {
		if err := s.complete(ctx, &list[i]); err != nil {
			return nil, fmt.Errorf("entry %d: %w", list[i].ID, err)
		}
	}
	return list, nil
}

// complete reads what belongs to an entry.
func (s *Store) complete(ctx context.Context, e *models.Entry) error {
	tx := s.db.WithContext(ctx)
	var f models.Feed
	if err := tx.First(&f, e.FeedID).Error; err != nil {
		return err
	}
	e.Feed = &f
	if err := tx.Model(e).Association("Labels").Find(&e.Labels); err != nil {
		return err
	}
	var enc models.Enclosure
	switch err := tx.Where("entry_id = ?", e.ID).First(&enc).Error; {
	case err == nil:
		e.Enclosure = &enc
	case !errors.Is(err, gorm.ErrRecordNotFound):
		return err
	}
	return nil
}

// MarkRead marks an entry of a user as read.
func (s *Store) MarkRead(ctx context.Context, user, entry uint) error {
	r := s.db.WithContext(ctx).Model(&models.Entry{}).Where("id = ? AND user_id = ?", entry, user).Update("read", true)
	if r.Error == nil && r.RowsAffected == 0 {
		return ErrNotFound
	}
	return r.Error
}
