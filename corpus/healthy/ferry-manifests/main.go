// Command ferry-manifests lists who is on board. A manifest takes three statements,
// on three tables, over a pool of four connections, which are plenty here.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
)

const layout = `
CREATE TABLE sailings (id int PRIMARY KEY, ship text NOT NULL, port text NOT NULL);
CREATE TABLE passengers (id int PRIMARY KEY, sailing int NOT NULL, name text NOT NULL);
CREATE TABLE vehicles (plate text PRIMARY KEY, sailing int NOT NULL, metres numeric NOT NULL);
INSERT INTO sailings SELECT n, 'MV ' || n % 9, 'Port ' || n % 5 FROM generate_series(1, 500) n;
INSERT INTO passengers SELECT n, 1 + n % 500, 'Passenger ' || n FROM generate_series(1, 10000) n;
INSERT INTO vehicles SELECT 'V' || n, 1 + n % 500, 4 + n % 3 FROM generate_series(1, 4000) n;
CREATE INDEX ON passengers (sailing);
CREATE INDEX ON vehicles (sailing);
ANALYZE;`

type manifest struct {
	Ship       string   `json:"ship"`
	Port       string   `json:"port"`
	Passengers []string `json:"passengers"`
	Metres     float64  `json:"metres"`
}

type purser struct{ *pgxpool.Pool }

func (p purser) manifest(ctx context.Context, sailing int) (m manifest, err error) {
	if err = p.QueryRow(ctx, "SELECT ship, port FROM sailings WHERE id = $1", sailing).Scan(&m.Ship, &m.Port); err != nil {
		return m, err
	}
	rows, err := p.Query(ctx, "SELECT name FROM passengers WHERE sailing = $1 ORDER BY id", sailing)
	if err != nil {
		return m, err
	}
	if m.Passengers, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return m, err
	}
	err = p.QueryRow(ctx, "SELECT coalesce(sum(metres), 0)::float8 FROM vehicles WHERE sailing = $1", sailing).Scan(&m.Metres)
	return m, err
}

func main() {
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	cfg.MaxConns = 4
	db, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(context.Background(), layout); err != nil {
		log.Fatal(err)
	}
	p := purser{db}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/up", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/sailings/:id/manifest", func(c echo.Context) error {
		id, err := strconv.Atoi(c.Param("id"))
		if err != nil {
			return echo.ErrBadRequest
		}
		m, err := p.manifest(c.Request().Context(), id)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, m)
	})
	log.Fatal(e.Start("127.0.0.1:9880"))
}
