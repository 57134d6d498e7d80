// Package service puts the gateway together from its settings: which variant of
// each part runs, and in which order the parts are closed.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/api"
	"github.com/redline-go/redline/lab/gateway/internal/audit"
	"github.com/redline-go/redline/lab/gateway/internal/auth"
	"github.com/redline-go/redline/lab/gateway/internal/buffer"
	"github.com/redline-go/redline/lab/gateway/internal/cache"
	"github.com/redline-go/redline/lab/gateway/internal/journal"
	"github.com/redline-go/redline/lab/gateway/internal/ledger"
	"github.com/redline-go/redline/lab/gateway/internal/pace"
	"github.com/redline-go/redline/lab/gateway/internal/ratelimit"
	"github.com/redline-go/redline/lab/gateway/internal/reply"
	"github.com/redline-go/redline/lab/gateway/internal/risk"
	"github.com/redline-go/redline/lab/gateway/internal/spin"
	"github.com/redline-go/redline/lab/gateway/internal/store"
	"github.com/redline-go/redline/lab/gateway/internal/validate"
	"github.com/redline-go/redline/lab/gateway/remedy"
)

// Options are what the gateway needs.
type Options struct {
	DSN    string // a seeded database
	Dir    string // folder for log and audit trail; empty is a temporary one, removed by Close
	Secret string // of the tokens
	// RateLimit is how many requests one user may make per second.
	RateLimit int
	// RiskURL is the risk service to ask; empty starts one when it is wanted.
	RiskURL  string
	Spin     int // rounds of work added to every request of a user
	Settings remedy.Settings
	Log      *slog.Logger
}

// Service is a running gateway, but for the listener.
type Service struct {
	Handler http.Handler

	closers []func() error // run from the last to the first
}

// New opens all parts. What it opened before an error is closed again.
func New(ctx context.Context, o Options) (*Service, error) {
	s := &Service{}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Service) open(ctx context.Context, o Options) error {
	set := o.Settings
	dir := o.Dir
	if dir == "" {
		temporary, err := os.MkdirTemp("", "gateway-")
		if err != nil {
			return fmt.Errorf("make a folder for the log: %w", err)
		}
		s.closers = append(s.closers, func() error { return os.RemoveAll(temporary) })
		dir = temporary
	}
	log, err := journal.Open(dir, set.AsyncLog)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	s.closers = append(s.closers, log.Close)
	trail, err := audit.Open(dir, set.BatchedAudit, o.Log)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, trail.Close)
	keeper, err := auth.New(o.Secret)
	if err != nil {
		return err
	}
	scores, err := s.openRisk(ctx, o)
	if err != nil {
		return err
	}
	orders, err := store.Open(ctx, o.DSN, store.Options{
		Pool: set.Pool, Prepared: set.Prepared, Batched: set.Batched, BatchedWrites: set.BatchedWrites,
		Index: set.Index, Log: log.Statements(),
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, orders.Close)
	config := api.Config{
		Store: orders, Ledger: ledger.New(!set.UnlockedReads), Pace: pace.New(set.Pace), Risk: scores, Auth: keeper,
		Journal: log, Trail: trail, Rates: ratelimit.New(o.RateLimit, set.ShardedTable),
		Buffers: buffer.New(set.PooledBuffers), Validate: validate.New(set.RegexpOnce),
		Encoder: reply.Encoder{Append: set.AppendJSON}, Trimmed: set.TrimmedChain, Workers: set.Workers,
		Spin: spin.Rounds(o.Spin), Errors: o.Log,
	}
	if set.Cache {
		config.Cache = cache.New(nil)
	}
	s.Handler = api.New(config)
	return nil
}

// openRisk returns the client of the risk service, nil when none is asked.
func (s *Service) openRisk(ctx context.Context, o Options) (*risk.Client, error) {
	if !o.Settings.Risk {
		return nil, nil
	}
	if o.RiskURL != "" {
		return risk.NewClient(o.RiskURL), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	process, err := risk.Start(ctx)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { process.Stop(); return nil })
	return risk.NewClient(process.Base), nil
}

// Close closes what is open, once no request is in flight any more.
func (s *Service) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}
