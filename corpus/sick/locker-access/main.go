// Command locker-access opens parcel lockers. A request takes a database connection for
// itself at its beginning and gives it back at its end, so that it also holds the
// connection while the locker's controller answers; there are five.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"

	"github.com/gin-gonic/gin"
)

const ddl = `
CREATE TABLE lockers (id int PRIMARY KEY, street text NOT NULL, code int NOT NULL);
INSERT INTO lockers SELECT n, 'Street ' || n, n * 37 % 10000 FROM generate_series(1, 3000) n;
ANALYZE lockers;`

// Locker is a wall of doors at a street.
type Locker struct {
	ID     int    `db:"id" json:"id"`
	Street string `db:"street" json:"street"`
	Code   int    `db:"code" json:"-"`
}

// controller talks to the hardware.
type controller struct{ base string }

func (c controller) unlock(ctx context.Context, l Locker) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/unlock/%d?code=%d", c.base, l.ID, l.Code), nil)
	if err != nil {
		return err
	}
	resp, err := hardware.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

var hardware = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// access is what one request works with.
type access struct {
	*sqlx.Conn
	controller
}

func withAccess(db *sqlx.DB, ctl controller, next func(*gin.Context, access)) gin.HandlerFunc {
	return func(c *gin.Context) {
		conn, err := db.Connx(c.Request.Context())
		if err != nil {
			_ = c.AbortWithError(http.StatusServiceUnavailable, err)
			return
		}
		defer conn.Close()
		next(c, access{conn, ctl})
	}
}

func openDoor(c *gin.Context, a access) {
	id, _ := strconv.Atoi(c.Param("id"))
	var l Locker
	if err := a.GetContext(c.Request.Context(), &l, "SELECT id, street, code FROM lockers WHERE id = $1", id); err != nil {
		_ = c.AbortWithError(http.StatusNotFound, err)
		return
	}
	if err := a.unlock(c.Request.Context(), l); err != nil {
		_ = c.AbortWithError(http.StatusBadGateway, err)
		return
	}
	c.JSON(http.StatusOK, l)
}

func main() {
	db, err := sqlx.Connect("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(5)
	db.SetMaxIdleConns(5)
	db.MustExec(ddl)
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/ready", func(c *gin.Context) { c.String(http.StatusOK, "ready") })
	r.POST("/lockers/:id/open", withAccess(db, controller{os.Getenv("BACKEND_URL")}, openDoor))
	log.Fatal(r.Run("127.0.0.1:9864"))
}
