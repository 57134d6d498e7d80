// Package dispatch knows where locksmiths are.
package dispatch

import (
	"context"
	"fmt"
	"math"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

type smith struct {
	name string
	x, y float64
}

// Server is the dispatcher.
type Server struct {
	mu     sync.RWMutex
	smiths []smith
	asked  map[string]int
}

// NewServer places n locksmiths.
func NewServer(n int) *Server {
	s := &Server{asked: map[string]int{}}
	for i := range n {
		s.smiths = append(s.smiths, smith{fmt.Sprintf("smith-%03d", i), float64(i * 37 % 500), float64(i * 91 % 500)})
	}
	return s
}

// Nearest implements pb.DispatcherServer: it looks at all of them, which are a few hundred.
func (s *Server) Nearest(_ context.Context, in *structpb.Struct) (*structpb.Struct, error) {
	x, y := in.GetFields()["x"].GetNumberValue(), in.GetFields()["y"].GetNumberValue()
	s.mu.RLock()
	best, dist := smith{}, math.Inf(1)
	for _, m := range s.smiths {
		if d := math.Hypot(m.x-x, m.y-y); d < dist {
			best, dist = m, d
		}
	}
	s.mu.RUnlock()
	s.mu.Lock()
	s.asked[best.name]++
	s.mu.Unlock()
	return structpb.NewStruct(map[string]any{"smith": best.name, "minutes": math.Ceil(dist / 3)})
}

// Recover turns a panic into an error.
func Recover(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = status.Errorf(codes.Internal, "panic: %v", p)
		}
	}()
	return next(ctx, req)
}

var (
	countMu sync.Mutex
	counts  = map[string]int{}
)

// Count counts calls by method and code.
func Count(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	resp, err := next(ctx, req)
	countMu.Lock()
	counts[fmt.Sprintf("%s %s", info.FullMethod, status.Code(err))]++
	countMu.Unlock()
	return resp, err
}
