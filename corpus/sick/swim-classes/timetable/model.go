// Package timetable holds the lessons of the pools.
package timetable

import (
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Pool is a swimming pool.
type Pool struct {
	ID    uint
	Name  string
	Lanes int
}

// Coach gives lessons.
type Coach struct {
	ID        uint
	First     string
	Last      string
	Certified bool
}

// Lesson is one lesson of the week.
type Lesson struct {
	ID       uint
	PoolID   uint
	CoachID  uint
	Level    string
	StartsAt time.Time
	Seats    int
	Taken    int

	Coach   Coach
	Display string `gorm:"-"`
}

// AfterFind completes what the front end shows of a lesson.
func (l *Lesson) AfterFind(tx *gorm.DB) error {
	return l.decorate(tx.Session(&gorm.Session{NewDB: true}))
}

func (l *Lesson) decorate(tx *gorm.DB) error {
	if l.CoachID != 0 && l.Coach.ID == 0 {
		if err := l.lookUpCoach(tx); err != nil {
			return err
		}
	}
	l.Display = fmt.Sprintf("%s with %s. %s", l.Level, l.Coach.First[:1], l.Coach.Last)
	return nil
}

func (l *Lesson) lookUpCoach(tx *gorm.DB) error {
	return tx.Where("id = ?", l.CoachID).Take(&l.Coach).Error
}

// Install makes the tables and a season's content.
func Install(db *gorm.DB) error {
	if err := db.AutoMigrate(&Pool{}, &Coach{}, &Lesson{}); err != nil {
		return err
	}
	for _, s := range []string{
		`INSERT INTO pools (name, lanes) SELECT 'pool ' || n, 4 + n % 5 FROM generate_series(1, 30) n`,
		`INSERT INTO coaches (first, last, certified) SELECT 'Robin' || n, 'Marsh' || n, n % 9 > 0 FROM generate_series(1, 400) n`,
		`INSERT INTO lessons (pool_id, coach_id, level, starts_at, seats, taken)
		 SELECT 1 + n % 30, 1 + n * 7 % 400, (ARRAY['seahorse','bronze','silver','gold'])[1 + n / 30 % 4],
		        date '2026-03-02' + (n / 120 % 7) * interval '1 day' + (8 + n / 840 % 10) * interval '1 hour', 12, n % 13
		 FROM generate_series(0, 4799) n`,
		`CREATE INDEX lessons_pool ON lessons (pool_id, level, starts_at)`,
		`ANALYZE pools, coaches, lessons`,
	} {
		if err := db.Exec(s).Error; err != nil {
			return err
		}
	}
	return nil
}
