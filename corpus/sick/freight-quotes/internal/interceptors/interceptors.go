// Package interceptors holds what every call passes.
package interceptors

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"connectrpc.com/connect"
)

// Auth lets those calls pass that carry one of keys.
func Auth(keys ...string) connect.UnaryInterceptorFunc {
	known := make(map[string]bool, len(keys))
	for _, k := range keys {
		known[k] = true
	}
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			if !known[req.Header().Get("X-Api-Key")] {
				return nil, connect.NewError(connect.CodeUnauthenticated, errors.New("api key"))
			}
			return next(ctx, req)
		}
	}
}

// Log writes calls that fail or take long.
func Log(log *slog.Logger, long time.Duration) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			start := time.Now()
			resp, err := next(ctx, req)
			switch took := time.Since(start); {
			case err != nil:
				log.WarnContext(ctx, "call failed", "procedure", req.Spec().Procedure, "code", connect.CodeOf(err).String(), "err", err)
			case took > long:
				log.WarnContext(ctx, "long call", "procedure", req.Spec().Procedure, "took", took)
			}
			return resp, err
		}
	}
}
