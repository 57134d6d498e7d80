// Package rpc is the service others call.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/redline-go/redline/corpus/sick/rota-conflicts/internal/rota"
)

// CheckProcedure is the path of Check.
const CheckProcedure = "/rota.v1.Conflicts/Check"

// Service finds clashes in wards.
type Service struct {
	Wards [][]rota.Shift
	Find  rota.Finder
}

// Check answers with the clashes of a ward, the first 20 at most.
func (s Service) Check(_ context.Context, req *connect.Request[structpb.Struct]) (*connect.Response[structpb.Struct], error) {
	ward := int(req.Msg.GetFields()["ward"].GetNumberValue())
	if ward < 0 || ward >= len(s.Wards) {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such ward"))
	}
	clashes := s.Find.Clashes(s.Wards[ward])
	list := make([]any, 0, min(20, len(clashes)))
	for _, c := range clashes[:min(20, len(clashes))] {
		list = append(list, map[string]any{"shifts": []any{c.First, c.Second}, "minutes": c.Minutes})
	}
	msg, err := structpb.NewStruct(map[string]any{"ward": ward, "total": len(clashes), "clashes": list})
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("answer: %w", err))
	}
	return connect.NewResponse(msg), nil
}

// Log logs calls that failed or took long.
func Log(log *slog.Logger) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			start := time.Now()
			resp, err := next(ctx, req)
			if d := time.Since(start); err != nil || d > time.Second {
				log.WarnContext(ctx, "call", "procedure", req.Spec().Procedure, "took", d, "err", err)
			}
			return resp, err
		}
	}
}
