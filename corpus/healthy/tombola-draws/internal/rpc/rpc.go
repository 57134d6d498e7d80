// Package rpc serves draws.
package rpc

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/redline-go/redline/corpus/healthy/tombola-draws/internal/drum"
)

const procedure = "/tombola.v1.TombolaService/Draw"

// Drawer draws.
type Drawer interface {
	Draw(ctx context.Context, tombola string, tickets int) ([]drum.Prize, error)
}

// Handler returns the path and its handler.
func Handler(d Drawer) (string, http.Handler) {
	return procedure, connect.NewUnaryHandler(procedure, func(ctx context.Context, in *connect.Request[structpb.Struct],
	) (*connect.Response[structpb.Struct], error) {
		name, n := in.Msg.GetFields()["tombola"].GetStringValue(), int(in.Msg.GetFields()["tickets"].GetNumberValue())
		if name == "" || n < 100 {
			return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("tombola, and at least 100 tickets"))
		}
		prizes, err := d.Draw(ctx, name, n)
		if err != nil {
			return nil, connect.NewError(connect.CodeCanceled, err)
		}
		fields := map[string]any{}
		for _, p := range prizes {
			var list []any
			for _, t := range p.Tickets {
				list = append(list, t)
			}
			fields[p.Name] = list
		}
		out, err := structpb.NewStruct(fields)
		if err != nil {
			return nil, err
		}
		return connect.NewResponse(out), nil
	})
}
