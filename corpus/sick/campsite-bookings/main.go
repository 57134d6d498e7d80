// Command campsite-bookings lists the bookings of a week. The guests of
// each are fetched through the mapper's association, booking by booking.
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	jsoniter "github.com/json-iterator/go"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Guest sleeps in a tent.
type Guest struct {
	ID        uint   `json:"-"`
	BookingID uint   `json:"-" gorm:"index"`
	Name      string `json:"name"`
	Age       int    `json:"age"`
}

// Booking is a pitch for some nights.
type Booking struct {
	ID      uint      `json:"id"`
	Week    int       `json:"week" gorm:"index"`
	Pitch   string    `json:"pitch"`
	Created time.Time `json:"created"`
	Guests  []Guest   `json:"guests"`
}

type office struct {
	orm  *gorm.DB
	json jsoniter.API
}

func (o *office) seed() error {
	if err := o.orm.AutoMigrate(&Booking{}, &Guest{}); err != nil {
		return err
	}
	for _, stmt := range []string{
		`INSERT INTO bookings (week, pitch, created) SELECT n % 50, 'P' || n % 90, now() FROM generate_series(1, 1500) n`,
		`INSERT INTO guests (booking_id, name, age) SELECT 1 + n % 1500, 'Guest ' || n, n % 80 FROM generate_series(1, 4500) n`,
		`ANALYZE bookings`, `ANALYZE guests`,
	} {
		if err := o.orm.Exec(stmt).Error; err != nil {
			return err
		}
	}
	return nil
}

func (o *office) week(n int) ([]Booking, error) {
	var list []Booking
	if err := o.orm.Where("week = ?", n).Order("id").Find(&list).Error; err != nil {
		return nil, err
	}
	for i := range list {
		if err := o.orm.Model(&list[i]).Association("Guests").Find(&list[i].Guests); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (o *office) showWeek(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(chi.URLParam(r, "week"))
	if err != nil {
		http.Error(w, "week", http.StatusBadRequest)
		return
	}
	list, err := o.week(n)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = o.json.NewEncoder(w).Encode(list)
}

func main() {
	orm, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
	if err != nil {
		log.Fatal(err)
	}
	if pool, err := orm.DB(); err == nil {
		pool.SetMaxOpenConns(12)
		pool.SetMaxIdleConns(12)
	}
	o := &office{orm, jsoniter.ConfigFastest}
	if err := o.seed(); err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Get("/weeks/{week}", o.showWeek)
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9863", r))
}
