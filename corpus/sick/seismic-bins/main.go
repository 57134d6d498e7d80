// Command seismic-bins sorts what a seismograph wrote into bins of strength. It speaks Connect.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/redline-go/redline/corpus/sick/seismic-bins/bins"
)

const procedure = "/seismic.v1.Bins/Sort"

type service struct{ archive *bins.Archive }

func (s service) sort(_ context.Context, req *connect.Request[structpb.Struct]) (*connect.Response[structpb.Struct], error) {
	in := req.Msg.AsMap()
	station, _ := in["station"].(string)
	hour, _ := in["hour"].(float64)
	h, err := s.archive.Hour(station, int(hour))
	if errors.Is(err, bins.ErrNoStation) {
		return nil, connect.NewError(connect.CodeNotFound, err)
	}
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	counts := map[string]any{}
	for b, n := range h.Counts {
		counts[fmt.Sprintf("m%d", b)] = n
	}
	out, err := structpb.NewStruct(map[string]any{"station": station, "peak": h.Peak, "quiet": h.Quiet, "counts": counts})
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, err)
	}
	return connect.NewResponse(out), nil
}

// slow reports calls that take long.
func slow(limit time.Duration) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			begin := time.Now()
			resp, err := next(ctx, req)
			if took := time.Since(begin); took > limit {
				log.Println("slow:", req.Spec().Procedure, took)
			}
			return resp, err
		}
	}
}

func main() {
	s := service{bins.NewArchive(16, 1600, os.Getenv("FIXED") == "1")}
	mux := http.NewServeMux()
	mux.Handle(procedure, connect.NewUnaryHandler(procedure, s.sort, connect.WithInterceptors(slow(2*time.Second))))
	mux.HandleFunc("/grpc.health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	log.Fatal(http.ListenAndServe("127.0.0.1:21315", mux))
}
