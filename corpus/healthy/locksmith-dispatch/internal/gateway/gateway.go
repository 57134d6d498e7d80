// Package gateway turns HTTP into gRPC.
package gateway

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/redline-go/redline/corpus/healthy/locksmith-dispatch/internal/pb"
)

// New returns the routes.
func New(c pb.DispatcherClient) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/nearest", func(w http.ResponseWriter, r *http.Request) {
		in := &structpb.Struct{Fields: map[string]*structpb.Value{}}
		for _, k := range []string{"x", "y"} {
			f, err := strconv.ParseFloat(r.FormValue(k), 64)
			if err != nil {
				http.Error(w, k+": a number", http.StatusBadRequest)
				return
			}
			in.Fields[k] = structpb.NewNumberValue(f)
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		out, err := c.Nearest(ctx, in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		body, err := protojson.Marshal(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	return mux
}
