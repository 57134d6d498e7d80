// Package monitor answers the gRPC health protocol for feeders.
package monitor

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/redline-go/redline/corpus/sick/grid-health/feeder"
)

// Limits are loads in per cent from which a feeder is reported.
type Limits struct{ Amber, Red int }

// Monitor is a health server whose services are feeders.
type Monitor struct {
	healthpb.UnimplementedHealthServer
	source *feeder.Meter
	limits Limits
	log    *slog.Logger

	mu    sync.Mutex
	amber map[string]time.Time

	stop chan struct{}
	done sync.WaitGroup
}

// New makes a monitor. Close ends its reports.
func New(s *feeder.Meter, l Limits, log *slog.Logger) *Monitor {
	m := &Monitor{source: s, limits: l, log: log, amber: map[string]time.Time{}, stop: make(chan struct{})}
	m.done.Go(m.report)
	return m
}

// Close ends the reports.
func (m *Monitor) Close() {
	close(m.stop)
	m.done.Wait()
}

func (m *Monitor) report() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
		}
		reads, failures := m.source.Counts()
		m.mu.Lock()
		amber := len(m.amber)
		m.mu.Unlock()
		m.log.Info("feeders", "reads", reads, "failures", failures, "amber", amber)
	}
}

// Check implements the health protocol: a feeder serves while it is not red.
func (m *Monitor) Check(ctx context.Context, in *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	name := strings.ToLower(strings.TrimSpace(in.GetService()))
	if name == "" {
		return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
	}
	r, err := m.source.Read(ctx, name)
	switch {
	case errors.Is(err, feeder.ErrUnknown):
		return nil, status.Error(codes.NotFound, "no such feeder")
	case errors.Is(err, context.DeadlineExceeded):
		return nil, status.Error(codes.DeadlineExceeded, "the station does not answer")
	case err != nil:
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	return &healthpb.HealthCheckResponse{Status: m.judge(name, r)}, nil
}

func (m *Monitor) judge(name string, r feeder.Reading) healthpb.HealthCheckResponse_ServingStatus {
	m.mu.Lock()
	if r.Percent >= m.limits.Amber {
		m.amber[name] = r.At
	} else {
		delete(m.amber, name)
	}
	m.mu.Unlock()
	if r.Percent >= m.limits.Red {
		return healthpb.HealthCheckResponse_NOT_SERVING
	}
	return healthpb.HealthCheckResponse_SERVING
}

// Deadline bounds calls whose callers set no bound.
func Deadline(d time.Duration) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			defer cancel()
		}
		return next(ctx, req)
	}
}

// Recover turns panics into INTERNAL.
func Recover(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (answer any, err error) {
		defer func() {
			if v := recover(); v != nil {
				log.Error("panic", "method", info.FullMethod, "value", v)
				err = status.Error(codes.Internal, "internal")
			}
		}()
		return next(ctx, req)
	}
}
