// Command refund-desk pays money back. It asks the bank while its transaction is
// open, so that connections are taken by transactions that do nothing.
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
)

type bank struct {
	url string
	*http.Client
}

func (b bank) transfer(ctx context.Context, refund int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/transfers/"+strconv.Itoa(refund), nil)
	if err != nil {
		return err
	}
	res, err := b.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}

type refunds struct {
	pool *pgxpool.Pool
	bank bank
}

func (r refunds) pay(ctx context.Context, id int) error {
	tx, err := r.pool.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	var cents int
	if err := tx.QueryRow(ctx, "SELECT cents FROM refunds WHERE id = $1 FOR UPDATE", id).Scan(&cents); err != nil {
		return err
	}
	if err := r.bank.transfer(ctx, id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE refunds SET paid = now() WHERE id = $1", id); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func run(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	cfg.MaxConns = 6
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE refunds (id int PRIMARY KEY, cents int, paid timestamptz);
		INSERT INTO refunds SELECT n, n FROM generate_series(1, 20000) n`); err != nil {
		return err
	}
	r := refunds{pool, bank{os.Getenv("BACKEND_URL"), &http.Client{Timeout: time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 40}}}}
	e := echo.New()
	e.HideBanner = true
	e.GET("/health", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/refunds/:id", func(c echo.Context) error {
		id, err := strconv.Atoi(c.Param("id"))
		if err != nil {
			return echo.ErrBadRequest
		}
		if err := r.pay(c.Request().Context(), id); err != nil {
			return err
		}
		return c.NoContent(http.StatusOK)
	})
	return e.Start("127.0.0.1:9514")
}

func main() {
	if err := run(context.Background()); err != nil {
		panic(err)
	}
}
