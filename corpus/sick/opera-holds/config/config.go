// Package config reads the environment.
package config

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Config is all that can be set.
type Config struct {
	Listen   string
	Database Database
}

// Database says how to reach PostgreSQL.
type Database struct {
	URL         string
	Connections int
	Idle        time.Duration
}

// Read reads the environment; what is not set has the default.
func Read(getenv func(string) string) Config {
	d := Database{URL: getenv("DATABASE_URL"), Idle: 5 * time.Minute}
	d.Connections, _ = strconv.Atoi(cmp.Or(getenv("DB_CONNECTIONS"), small))
	if getenv("FIXED") == "1" {
		d.Connections = 24
	}
	return Config{Listen: cmp.Or(getenv("LISTEN"), "127.0.0.1:21303"), Database: d}
}

// small is enough for the office's own screens.
const small = "3"

// Open connects.
func (d Database) Open(ctx context.Context) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		return nil, err
	}
	c.MaxConnIdleTime = d.Idle
	c.MaxConns = max(1, int32(d.Connections))
	c.MinConns = c.MaxConns
	return pgxpool.NewWithConfig(ctx, c)
}
