// Command tour-payments charges guests for tours. The card network is called in the
// middle of the transaction that reads the tour and writes the payment, and the six
// transactions that may be open are all idle meanwhile.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/labstack/echo/v4"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Tour is what guests pay for.
type Tour struct {
	ID    int `gorm:"primaryKey"`
	Title string
	Cents int64
}

// Payment is a charge that the network has accepted.
type Payment struct {
	ID     int64  `json:"id" gorm:"primaryKey"`
	TourID int    `json:"tour" gorm:"index"`
	Cents  int64  `json:"cents"`
	Guest  string `json:"guest"`
}

// CardNetwork moves money.
type CardNetwork interface {
	Charge(ctx context.Context, guest string, cents int64) error
}

type cardAPI struct {
	*http.Client
	url string
}

func (c cardAPI) Charge(ctx context.Context, guest string, cents int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/charges/%s/%d", c.url, guest, cents), http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("charge: %s", resp.Status)
	}
	return nil
}

type till struct {
	db    *gorm.DB
	cards CardNetwork
}

func (t *till) pay(ctx context.Context, tour int, guest string) (p Payment, err error) {
	err = t.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var sold Tour
		if err := tx.First(&sold, tour).Error; err != nil {
			return err
		}
		if err := t.cards.Charge(ctx, guest, sold.Cents); err != nil {
			return err
		}
		p = Payment{TourID: sold.ID, Cents: sold.Cents, Guest: guest}
		return tx.Create(&p).Error
	})
	return p, err
}

func main() {
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&Tour{}, &Payment{}); err != nil {
		log.Fatal(err)
	}
	db.Exec("INSERT INTO tours (id, title, cents) SELECT n, 'Tour ' || n, 4900 + n FROM generate_series(1, 200) n")
	if pool, err := db.DB(); err == nil {
		pool.SetMaxOpenConns(6)
		pool.SetMaxIdleConns(6)
	}
	t := &till{db, cardAPI{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}, os.Getenv("BACKEND_URL")}}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/ready", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/tours/:tour/payments", func(c echo.Context) error {
		tour, err := strconv.Atoi(c.Param("tour"))
		if err != nil {
			return echo.ErrBadRequest
		}
		p, err := t.pay(c.Request().Context(), tour, c.QueryParam("guest"))
		if err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, p)
	})
	log.Fatal(e.Start("127.0.0.1:9866"))
}
