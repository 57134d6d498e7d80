package timetable

import (
	"context"
	"errors"
	"sort"

	"gorm.io/gorm"
)

// ErrNoPool says that there is no such pool.
var ErrNoPool = errors.New("no such pool")

// Slot is a lesson as it is shown.
type Slot struct {
	Time string `json:"time"`
	What string `json:"what"`
	Free int    `json:"free"`
	Full bool   `json:"full"`
}

// Day is a day's lessons and how full they are.
type Day struct {
	Date      string  `json:"date"`
	Occupancy float64 `json:"occupancy"`
	Slots     []Slot  `json:"slots"`
}

// Desk answers questions about lessons.
type Desk struct{ db *gorm.DB }

// New makes a desk.
func New(db *gorm.DB) *Desk { return &Desk{db} }

// Preloaded makes db read coaches along with the lessons they give.
func Preloaded(db *gorm.DB) *gorm.DB {
	return db.Joins("Coach").Session(&gorm.Session{SkipHooks: true})
}

// Week returns the lessons of a pool, day by day.
func (d *Desk) Week(ctx context.Context, pool uint, level string) ([]Day, error) {
	var p Pool
	err := d.db.Session(&gorm.Session{NewDB: true, Context: ctx}).Take(&p, pool).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, ErrNoPool
	}
	if err != nil {
		return nil, err
	}
	lessons, err := d.lessons(ctx, pool, level)
	if err != nil {
		return nil, err
	}
	return byDay(lessons), nil
}

func (d *Desk) lessons(ctx context.Context, pool uint, level string) (list []Lesson, err error) {
	q := d.db.WithContext(ctx).Where("lessons.pool_id = ?", pool)
	if level != "" {
		q = q.Where("lessons.level = ?", level)
	}
	if err := q.Order("lessons.starts_at").Limit(40).Find(&list).Error; err != nil {
		return nil, err
	}
	for i := range list {
		if l := &list[i]; l.Display == "" {
			l.Display = l.Level + " with " + l.Coach.First[:1] + ". " + l.Coach.Last
		}
	}
	return list, nil
}

func byDay(lessons []Lesson) []Day {
	days := map[string]*Day{}
	seats := map[string][2]int{}
	for _, l := range lessons {
		date := l.StartsAt.Format("2006-01-02")
		d := days[date]
		if d == nil {
			d = &Day{Date: date}
			days[date] = d
		}
		free := max(0, l.Seats-l.Taken)
		d.Slots = append(d.Slots, Slot{l.StartsAt.Format("15:04"), l.Display, free, free == 0})
		s := seats[date]
		seats[date] = [2]int{s[0] + l.Seats, s[1] + l.Taken}
	}
	list := make([]Day, 0, len(days))
	for date, d := range days {
		if s := seats[date]; s[0] > 0 {
			d.Occupancy = float64(s[1]) / float64(s[0])
		}
		list = append(list, *d)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Date < list[j].Date })
	return list
}
