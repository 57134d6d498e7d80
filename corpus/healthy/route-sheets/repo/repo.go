// Package repo reads route sheets.
package repo

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/corpus/healthy/route-sheets/model"
)

// ErrNone says that there is no such driver.
var ErrNone = errors.New("no such driver")

// Drivers is where drivers are found.
type Drivers interface {
	Week(ctx context.Context, driver uint, from, to string) (*model.Driver, error)
}

type gormDrivers struct{ db *gorm.DB }

// New opens file and fills it.
func New(file string) (Drivers, func() error, error) {
	db, err := gorm.Open(sqlite.Open(file+"?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=3000"),
		&gorm.Config{Logger: logger.Discard, PrepareStmt: true, SkipDefaultTransaction: true})
	if err != nil {
		return nil, nil, err
	}
	conns, err := db.DB()
	if err != nil {
		return nil, nil, err
	}
	conns.SetMaxOpenConns(6)
	conns.SetMaxIdleConns(6)
	if err := db.AutoMigrate(&model.Driver{}, &model.Vehicle{}, &model.Tour{}, &model.Stop{}); err != nil {
		return nil, nil, fmt.Errorf("migrate: %w", err)
	}
	return gormDrivers{db}, conns.Close, seed(db)
}

func (g gormDrivers) Week(ctx context.Context, driver uint, from, to string) (*model.Driver, error) {
	var d model.Driver
	err := g.db.WithContext(ctx).
		Preload("Tours", func(tx *gorm.DB) *gorm.DB { return tx.Where("day BETWEEN ? AND ?", from, to).Order("day") }).
		Preload("Tours.Vehicle").
		Preload("Tours.Stops", func(tx *gorm.DB) *gorm.DB { return tx.Order("tour_id, pos") }).
		Take(&d, driver).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, ErrNone
	}
	return &d, err
}

func seed(db *gorm.DB) error {
	return db.Transaction(func(tx *gorm.DB) error {
		vans := make([]model.Vehicle, 20)
		for i := range vans {
			vans[i].Plate = fmt.Sprintf("HH-RS %d", 100+i)
		}
		if err := tx.Create(&vans).Error; err != nil {
			return err
		}
		for d := range 50 {
			driver := model.Driver{Name: fmt.Sprintf("Driver %d", d+1)}
			for day := range 28 {
				t := model.Tour{Day: fmt.Sprintf("2026-02-%02d", day+1), VehicleID: vans[(d+day)%len(vans)].ID}
				for s := range 6 {
					t.Stops = append(t.Stops, model.Stop{Pos: s, Address: fmt.Sprintf("Street %d", (d*31+day*7+s)%400), Parcels: 1 + s%3})
				}
				driver.Tours = append(driver.Tours, t)
			}
			if err := tx.Create(&driver).Error; err != nil {
				return err
			}
		}
		return nil
	})
}
