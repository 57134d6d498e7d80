// Command kennel-moves moves dogs between kennels. Every move is a transaction that
// locks a row, but one of five thousand, so that two hardly ever want the same.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
)

type dog struct {
	ID     int    `db:"id" json:"id"`
	Name   string `db:"name" json:"name"`
	Kennel int    `db:"kennel" json:"kennel"`
}

type shelter struct{ db *sqlx.DB }

// within runs f in a transaction.
func (s shelter) within(ctx context.Context, f func(*sqlx.Tx) error) (err error) {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if err = f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s shelter) move(ctx context.Context, id, kennel int) (d dog, err error) {
	err = s.within(ctx, func(tx *sqlx.Tx) error {
		if err := tx.GetContext(ctx, &d, "SELECT id, name, kennel FROM dogs WHERE id = $1 FOR UPDATE", id); err != nil {
			return err
		}
		if d.Kennel == kennel {
			return nil
		}
		d.Kennel = kennel
		_, err := tx.NamedExecContext(ctx, "UPDATE dogs SET kennel = :kennel WHERE id = :id", d)
		return err
	})
	return d, err
}

func main() {
	db := sqlx.MustConnect("postgres", os.Getenv("DATABASE_URL"))
	db.SetMaxOpenConns(10)
	db.SetMaxIdleConns(10)
	db.MustExec(`CREATE TABLE dogs (id int PRIMARY KEY, name text NOT NULL, kennel int NOT NULL);
		INSERT INTO dogs SELECT n, 'Dog ' || n, n % 40 FROM generate_series(1, 5000) n; ANALYZE dogs`)
	s := shelter{db}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/ready", func(c *fiber.Ctx) error { return c.SendString("ready") })
	app.Put("/dogs/:id/kennel/:kennel", func(c *fiber.Ctx) error {
		id, err := strconv.Atoi(c.Params("id"))
		kennel, err2 := strconv.Atoi(c.Params("kennel"))
		if err := errors.Join(err, err2); err != nil {
			return fiber.NewError(http.StatusBadRequest, err.Error())
		}
		d, err := s.move(context.Background(), id, kennel)
		if errors.Is(err, sql.ErrNoRows) {
			return fiber.NewError(http.StatusNotFound, fmt.Sprintf("no dog %d", id))
		}
		if err != nil {
			return err
		}
		return c.JSON(d)
	})
	log.Fatal(app.Listen("127.0.0.1:9884"))
}
