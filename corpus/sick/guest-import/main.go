// Command guest-import takes over guest lists from a spreadsheet. A transaction
// holds the list together, but each guest is a statement and a round trip.
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
)

type guest struct {
	Name  string `db:"name"`
	Table string `db:"seating"`
}

func parse(c *gin.Context) (list []guest) {
	lines := bufio.NewScanner(c.Request.Body)
	for lines.Scan() {
		name, table, _ := strings.Cut(lines.Text(), ";")
		list = append(list, guest{name, table})
	}
	return list
}

type importer struct{ *sqlx.DB }

func (i importer) save(c *gin.Context) {
	list := parse(c)
	err := i.write(list)
	if err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	c.String(http.StatusOK, "%d guests", len(list))
}

func (i importer) write(list []guest) error {
	tx, err := i.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	upsert, err := tx.Preparex("INSERT INTO guests (name, seating) VALUES ($1, $2)")
	if err != nil {
		return err
	}
	for _, g := range list {
		if _, err := upsert.Exec(g.Name, sql.NullString{String: g.Table, Valid: g.Table != ""}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	db := sqlx.MustConnect("postgres", os.Getenv("DATABASE_URL"))
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	db.MustExec("CREATE TABLE guests (id bigserial PRIMARY KEY, name text NOT NULL, seating text)")
	r := gin.New()
	r.PUT("/lists/:name", importer{db}.save)
	r.GET("/live", func(*gin.Context) {})
	fmt.Fprintln(os.Stderr, r.Run("127.0.0.1:9519"))
}
