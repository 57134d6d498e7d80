// Command warranty-lookup tells until when a device is covered. It opens a
// connection for each question and has no pool at all.
package main

import (
	"context"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"
)

var logger = zerolog.New(os.Stderr).Level(zerolog.WarnLevel)

type coverage struct {
	Serial int64
	Until  time.Time
}

func lookUp(ctx context.Context, serial string) (c coverage, err error) {
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return c, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT serial, until FROM covers WHERE serial = $1::text::bigint", serial).Scan(&c.Serial, &c.Until)
	return c, err
}

func route(ctx *fasthttp.RequestCtx) {
	serial := string(ctx.QueryArgs().Peek("serial"))
	if serial == "" {
		return
	}
	bounded, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	c, err := lookUp(bounded, serial)
	if err != nil {
		logger.Error().Err(err).Msg("look up")
		ctx.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetBodyString(c.Until.Format(time.DateOnly))
}

func prepare(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `CREATE TABLE covers (serial bigint PRIMARY KEY, until date NOT NULL);
		INSERT INTO covers SELECT n, date '2027-01-01' + n % 700 FROM generate_series(1, 10000) n`)
	return err
}

func main() {
	if err := prepare(context.Background()); err != nil {
		logger.Fatal().Err(err).Msg("prepare")
	}
	logger.Fatal().Err(fasthttp.ListenAndServe("127.0.0.1:9503", route)).Msg("serve")
}
