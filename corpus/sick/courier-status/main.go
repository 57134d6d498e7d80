// Command courier-status tells where parcels are. It lets 40 connections be used
// at once and forgets to say how many may be kept, which leaves database/sql at two.
package main

import (
	"database/sql"
	"log"
	"net/http"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/labstack/echo/v4"
)

type leg struct {
	Stop string `json:"stop"`
	At   int    `json:"at"`
}

func legs(db *sql.DB) echo.HandlerFunc {
	return func(c echo.Context) error {
		rows, err := db.QueryContext(c.Request().Context(), "SELECT stop, at FROM legs WHERE parcel = $1 ORDER BY at", c.Param("parcel"))
		if err != nil {
			return err
		}
		defer rows.Close()
		var list []leg
		for rows.Next() {
			var l leg
			if err := rows.Scan(&l.Stop, &l.At); err != nil {
				return err
			}
			list = append(list, l)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, list)
	}
}

func main() {
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(40)
	for _, s := range []string{
		"CREATE TABLE legs (parcel int NOT NULL, stop text NOT NULL, at int NOT NULL)",
		"INSERT INTO legs SELECT n / 4, 'hub ' || n % 37, n FROM generate_series(1, 20000) n",
		"CREATE INDEX ON legs (parcel, at)",
		"ANALYZE legs",
	} {
		if _, err := db.Exec(s); err != nil {
			log.Fatal(err)
		}
	}
	e := echo.New()
	e.HideBanner = true
	e.GET("/parcels/:parcel", legs(db))
	e.GET("/ping", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	log.Fatal(e.Start("127.0.0.1:9502"))
}
