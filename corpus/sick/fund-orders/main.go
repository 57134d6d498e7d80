// Command fund-orders takes orders for fund shares. The order's number comes from the
// one row of a register that is updated first in the transaction, so that orders of all
// funds stand in line behind one another until the depository has confirmed in the end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"
)

const tables = `
CREATE TABLE order_register (series text PRIMARY KEY, last bigint NOT NULL);
INSERT INTO order_register VALUES ('retail', 0);
CREATE TABLE orders (no bigint PRIMARY KEY, fund text NOT NULL, shares numeric NOT NULL, at timestamptz NOT NULL DEFAULT now());
CREATE TABLE confirmations (order_no bigint NOT NULL, depository text NOT NULL);
CREATE FUNCTION confirm(n bigint, d text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(0.005); -- the depository's foreign table is 5 ms away
	INSERT INTO confirmations VALUES (n, d);
END $$;`

type order struct {
	No     int64   `json:"no"`
	Fund   string  `json:"fund"`
	Shares float64 `json:"shares"`
}

type ordering struct {
	db  *pgxpool.Pool
	log *zap.SugaredLogger
}

func (o *ordering) place(ctx context.Context, in order) (order, error) {
	err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `UPDATE order_register SET last = last + 1 WHERE series = 'retail' RETURNING last`).Scan(&in.No)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO orders (no, fund, shares) VALUES ($1, $2, $3)`, in.No, in.Fund, in.Shares); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `SELECT confirm($1, 'central')`, in.No)
		return err
	})
	return in, err
}

func (o *ordering) post(w http.ResponseWriter, r *http.Request) {
	var in order
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Shares <= 0 {
		http.Error(w, "an order has a fund and shares", http.StatusBadRequest)
		return
	}
	in.Fund = r.PathValue("fund")
	placed, err := o.place(r.Context(), in)
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		o.log.Errorw("place", "fund", in.Fund, "err", err)
		w.WriteHeader(http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(placed)
	}
}

func main() {
	logger := zap.Must(zap.NewProduction()).Sugar()
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		logger.Fatal(err)
	}
	cfg.MaxConns, cfg.MinConns, cfg.MaxConnLifetime = 20, 20, time.Hour
	db, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		logger.Fatal(err)
	}
	if _, err := db.Exec(context.Background(), tables); err != nil {
		logger.Fatal(err)
	}
	o := &ordering{db, logger}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /funds/{fund}/orders", o.post)
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if err := db.Ping(r.Context()); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	logger.Fatal(http.ListenAndServe("127.0.0.1:9865", mux))
}
