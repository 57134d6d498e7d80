// Package repo keeps the tables.
package repo

import (
	"context"
	"fmt"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/corpus/sick/choir-repertoire/internal/model"
)

// Open makes the database.
func Open(path string) (*gorm.DB, error) {
	db, err := gorm.Open(sqlite.New(sqlite.Config{DriverName: "sqlite",
		DSN: "file:" + path + "?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)"}), &gorm.Config{
		Logger: logger.Default.LogMode(logger.Silent), PrepareStmt: true, SkipDefaultTransaction: true})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(10)
	pool.SetMaxIdleConns(10)
	return db, db.AutoMigrate(&model.Composer{}, &model.Piece{})
}

// Fill writes choirs of 30 pieces.
func Fill(db *gorm.DB) error {
	var cs []model.Composer
	for i := range 400 {
		cs = append(cs, model.Composer{ID: uint(i + 1), Name: fmt.Sprintf("Composer %d", i+1), Born: 1500 + i})
	}
	var ps []model.Piece
	for i := range 100 * 30 {
		ps = append(ps, model.Piece{ID: uint(i + 1), ChoirID: uint(i/30 + 1), ComposerID: uint(i*37%400 + 1),
			Title: fmt.Sprintf("Motet %d", i), Minutes: 2 + i%9})
	}
	if err := db.CreateInBatches(cs, 200).Error; err != nil {
		return err
	}
	return db.CreateInBatches(ps, 200).Error
}

// Pieces finds pieces and composers.
type Pieces struct{ db *gorm.DB }

// NewPieces makes a Pieces.
func NewPieces(db *gorm.DB) *Pieces { return &Pieces{db} }

// OfChoir returns the pieces of a choir.
func (p *Pieces) OfChoir(ctx context.Context, choir uint) (out []model.Piece, err error) {
	err = p.db.WithContext(ctx).Where("choir_id = ?", choir).Order("id").Find(&out).Error
	return out, err
}

// Composer returns a composer.
func (p *Pieces) Composer(ctx context.Context, id uint) (c model.Composer, err error) {
	err = p.db.WithContext(ctx).Where("id = ?", id).Take(&c).Error
	return c, err
}

// Composers returns composers by their number.
func (p *Pieces) Composers(ctx context.Context, ids []uint) (map[uint]model.Composer, error) {
	var list []model.Composer
	err := p.db.WithContext(ctx).Where("id IN ?", ids).Find(&list).Error
	out := make(map[uint]model.Composer, len(list))
	for _, c := range list {
		out[c.ID] = c
	}
	return out, err
}
