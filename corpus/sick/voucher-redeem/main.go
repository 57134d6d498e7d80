// Command voucher-redeem redeems vouchers. Where a voucher has expired it returns
// from the middle of the rows and never closes them, which keeps their connection.
package main

import (
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
	_ "github.com/lib/pq"
)

var errExpired = errors.New("expired")

type vouchers struct{ *sql.DB }

func (v vouchers) value(code string) (cents int, err error) {
	rows, err := v.Query("SELECT cents, expired FROM vouchers WHERE code = $1", code)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var expired bool
		if err := rows.Scan(&cents, &expired); err != nil {
			return 0, err
		}
		if expired {
			return 0, errExpired
		}
	}
	return cents, rows.Err()
}

func (v vouchers) redeem(c *gin.Context) {
	cents, err := v.value(c.Param("code"))
	switch {
	case errors.Is(err, errExpired):
		c.JSON(http.StatusOK, gin.H{"expired": true})
	case err != nil:
		c.AbortWithStatus(http.StatusInternalServerError)
	default:
		c.JSON(http.StatusOK, gin.H{"cents": cents})
	}
}

func (v vouchers) seed() error {
	_, err := v.Exec(`CREATE TABLE vouchers AS SELECT 'V' || n AS code, n AS cents, n % 25 = 0 AS expired FROM generate_series(1, 5000) n;
		CREATE UNIQUE INDEX ON vouchers (code)`)
	return err
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(120)
	db.SetMaxIdleConns(10)
	db.SetConnMaxIdleTime(time.Minute)
	v := vouchers{db}
	if err := v.seed(); err != nil {
		log.Fatal(err)
	}
	r := gin.New()
	r.GET("/vouchers/:code", v.redeem)
	r.GET("/", func(*gin.Context) {})
	log.Fatal(r.Run("127.0.0.1:9504"))
}
