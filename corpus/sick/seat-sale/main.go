// Command seat-sale sells seats of a show. Each sale counts the show's seats down
// at the beginning of its transaction, then writes what was sold.
package main

import (
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type Show struct {
	ID   int
	Left int
}

type Sale struct {
	ID     int
	ShowID int
	Buyer  string
	Row    int
}

var errSoldOut = errors.New("sold out")

func sell(db *gorm.DB, show, seats int) error {
	return db.Transaction(func(tx *gorm.DB) error {
		res := tx.Model(&Show{}).Where("id = ? AND \"left\" >= ?", show, seats).UpdateColumn("left", gorm.Expr("\"left\" - ?", seats))
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return errSoldOut
		}
		if err := tx.Create(&Sale{ShowID: show, Buyer: "buyer", Row: seats}).Error; err != nil {
			return err
		}
		// The printer's queue confirms before the sale is final.
		return tx.Exec("SELECT pg_sleep(0.005)").Error
	})
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&Show{}, &Sale{}); err != nil {
		log.Fatal(err)
	}
	if err := db.Exec("INSERT INTO shows SELECT n, 100000000 FROM generate_series(1, 3) n").Error; err != nil {
		log.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatal(err)
	}
	pool.SetMaxOpenConns(10)
	pool.SetMaxIdleConns(10)
	r := gin.New()
	r.POST("/shows/:id/sales", func(c *gin.Context) {
		id, _ := strconv.Atoi(c.Param("id"))
		if err := sell(db, id, 2); err != nil {
			c.String(http.StatusConflict, err.Error())
			return
		}
		c.Status(http.StatusCreated)
	})
	r.GET("/", func(*gin.Context) {})
	log.Fatal(r.Run("127.0.0.1:9512"))
}
