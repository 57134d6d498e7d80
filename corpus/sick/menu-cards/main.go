// Command menu-cards prints the cards of a restaurant: its dishes, and for each
// dish the allergens, which it asks for one dish after the other.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type Dish struct {
	ID        int        `json:"id"`
	House     int        `json:"-" gorm:"index"`
	Name      string     `json:"name"`
	Allergens []Allergen `json:"allergens"`
}

type Allergen struct {
	ID     int    `json:"-"`
	DishID int    `json:"-" gorm:"index"`
	Code   string `json:"code"`
}

type card struct{ db *gorm.DB }

func (c card) render(ctx echo.Context) error {
	var dishes []Dish
	if err := c.db.Where("house = ?", ctx.Param("house")).Find(&dishes).Error; err != nil {
		return err
	}
	for i := range dishes {
		if err := c.describe(&dishes[i]); err != nil {
			return err
		}
	}
	return ctx.JSON(http.StatusOK, dishes)
}

func (c card) describe(d *Dish) error {
	return c.db.Where("dish_id = ?", d.ID).Order("id").Find(&d.Allergens).Error
}

func main() {
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{PrepareStmt: true, Logger: logger.Discard})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&Dish{}, &Allergen{}); err != nil {
		log.Fatal(err)
	}
	for _, s := range []string{
		"INSERT INTO dishes (id, house, name) SELECT n, n / 15, 'dish ' || n FROM generate_series(1, 3000) n",
		"INSERT INTO allergens (id, dish_id, code) SELECT n, 1 + n % 3000, chr(65 + n % 14) FROM generate_series(1, 6000) n",
		"ANALYZE dishes", "ANALYZE allergens",
	} {
		if err := db.Exec(s).Error; err != nil {
			log.Fatal(err)
		}
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatal(err)
	}
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	e := echo.New()
	e.HideBanner = true
	e.GET("/houses/:house/card", card{db}.render)
	e.GET("/", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	log.Fatal(e.Start("127.0.0.1:9509"))
}
