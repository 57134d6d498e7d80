// Package store keeps orders in PostgreSQL, through GORM on pgx as the services
// that this one stands for do. It owns the schema, the seed, the connection
// pool and every statement; what is remedied here is set by Options.
package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	// pgx is the driver; stdlib adapts it to database/sql, whose pool is one
	// of the things under test.
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	// GORM is the mapper that such services use.
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/lab/gateway/internal/bank"
)

// Options are the store's switches; the zero value is the naive store.
type Options struct {
	// Pool is the number of connections kept, open and idle alike; 0 leaves
	// database/sql's defaults: unlimited open, two idle.
	Pool int
	// Prepared prepares each statement once per connection. Else statements go
	// as text with their values in it (PreferSimpleProtocol), as services do
	// that once ran behind a transaction-pooling PgBouncer.
	Prepared bool
	// Batched loads items and events in one query each.
	Batched bool
	// BatchedWrites inserts an order's items and events in one statement each.
	BatchedWrites bool
	// Index keeps the index for the hot query; else it is dropped.
	Index bool
	// Log traces statements; nil is silent.
	Log logger.Interface
}

// Store is the orders of all users. Its methods may be called concurrently.
type Store struct {
	db    *gorm.DB
	pool  *sql.DB
	banks *bank.Table

	batched, batchedWrites bool
}

// connect opens a pool without any setting of its own.
func connect(dsn string, prepared bool) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse the database's DSN: %w", err)
	}
	if !prepared {
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	}
	config.RuntimeParams["application_name"] = "gateway"
	return stdlib.OpenDB(*config), nil
}

// Open connects to a seeded database and brings the index to its switch.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	pool, err := connect(dsn, o.Prepared)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, pool, o)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

func open(ctx context.Context, pool *sql.DB, o Options) (*Store, error) {
	if o.Pool > 0 {
		pool.SetMaxOpenConns(o.Pool)
		pool.SetMaxIdleConns(o.Pool)
		pool.SetConnMaxLifetime(30 * time.Minute)
	}
	if err := checkSeeded(ctx, pool); err != nil {
		return nil, err
	}
	if err := setIndex(ctx, pool, o.Index); err != nil {
		return nil, err
	}
	banks, err := bank.Load(ctx, pool)
	if err != nil {
		return nil, err
	}
	log := o.Log
	if log == nil {
		log = logger.Discard
	}
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}), &gorm.Config{
		Logger:                 log,
		SkipDefaultTransaction: true, // writes say themselves where a transaction begins
		DisableAutomaticPing:   true,
		NowFunc:                timestamp,
		TranslateError:         true,
	})
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return &Store{db: db, pool: pool, banks: banks, batched: o.Batched, batchedWrites: o.BatchedWrites}, nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.pool.Close() }

// Ready reports whether the database answers.
func (s *Store) Ready(ctx context.Context) error { return s.pool.PingContext(ctx) }

// Stats are the pool's counters.
func (s *Store) Stats() sql.DBStats { return s.pool.Stats() }
