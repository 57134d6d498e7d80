// Package rpc serves the declarations procedure.
package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/redline-go/redline/corpus/sick/freight-declarations/internal/customs"
)

// Procedure is the name of the call.
const Procedure = "/freight.v1.DeclarationService/File"

// Filer files declarations.
type Filer interface {
	File(ctx context.Context, consignment string, grams int64) (*customs.Receipt, error)
}

// NewHandler returns the path and its handler.
func NewHandler(f Filer) (string, http.Handler) {
	return Procedure, connect.NewUnaryHandler(Procedure, func(ctx context.Context, in *connect.Request[structpb.Struct],
	) (*connect.Response[structpb.Struct], error) {
		fields := in.Msg.GetFields()
		id, kg := fields["consignment"].GetStringValue(), fields["kilograms"].GetNumberValue()
		if id == "" || kg <= 0 {
			return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("consignment and kilograms are needed"))
		}
		r, err := f.File(ctx, id, int64(kg*1000))
		if err != nil {
			return nil, connect.NewError(connect.CodeUnavailable, err)
		}
		out, err := structpb.NewStruct(map[string]any{"consignment": id, "state": r.State, "pages": r.Pages})
		if err != nil {
			return nil, err
		}
		return connect.NewResponse(out), nil
	}, connect.WithInterceptors(timing()))
}

func timing() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			start := time.Now()
			resp, err := next(ctx, req)
			if took := time.Since(start); took > time.Second {
				slog.WarnContext(ctx, "slow", "procedure", req.Spec().Procedure, "took", took)
			}
			return resp, err
		}
	}
}
